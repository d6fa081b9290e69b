"""The parts of scipy and scikit-learn that are known to do nothing but compute.

Left out is what reads and writes files, fetches data, keeps results on disk (`memory`) and starts processes
(`n_jobs`).
"""

from typing import Final

#: Functions and classes, by the names of their modules.
BY_MODULE: Final = {
    "scipy": "__version__",
    "scipy.integrate": "cumulative_trapezoid odeint quad simpson solve_ivp trapezoid",
    "scipy.interpolate": "CubicSpline PchipInterpolator UnivariateSpline griddata interp1d splev splrep",
    "scipy.linalg": "cholesky det eig eigh expm inv lstsq lu norm pinv qr solve svd",
    "scipy.optimize": """
        bisect brentq curve_fit differential_evolution fsolve least_squares linear_sum_assignment linprog
        minimize minimize_scalar newton root root_scalar
    """,
    "scipy.signal": """
        butter convolve correlate decimate detrend filtfilt find_peaks freqz lfilter medfilt periodogram
        peak_prominences peak_widths resample savgol_filter sosfilt sosfiltfilt spectrogram welch
    """,
    "scipy.sparse": "coo_matrix csc_matrix csr_matrix diags eye",
    "scipy.spatial.distance": "cdist cityblock cosine euclidean pdist squareform",
    "scipy.cluster.hierarchy": "dendrogram fcluster linkage",
    "scipy.special": "beta comb erf erfc expit factorial gamma gammaln logit logsumexp perm softmax",
    "scipy.stats": """
        anderson bartlett bernoulli beta binom binomtest boxcox chi2 chi2_contingency chisquare describe
        entropy expon f f_oneway fisher_exact friedmanchisquare gamma gaussian_kde geom gmean hmean iqr
        jarque_bera kendalltau kruskal ks_2samp kstest kurtosis kurtosistest laplace levene linregress
        lognorm mannwhitneyu mode moment multivariate_normal nbinom norm normaltest pareto pearsonr
        percentileofscore poisson probplot randint rankdata sem shapiro skew skewtest spearmanr t trim_mean
        tstd ttest_1samp ttest_ind ttest_rel uniform variation weibull_min wilcoxon zscore
    """,
    "sklearn": "__version__",
    "sklearn.cluster": "AgglomerativeClustering DBSCAN KMeans MiniBatchKMeans",
    "sklearn.datasets": """
        load_breast_cancer load_diabetes load_digits load_iris load_wine make_blobs make_circles
        make_classification make_moons make_regression
    """,
    "sklearn.decomposition": "NMF PCA TruncatedSVD",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": """
        AdaBoostClassifier AdaBoostRegressor ExtraTreesClassifier ExtraTreesRegressor
        GradientBoostingClassifier GradientBoostingRegressor HistGradientBoostingClassifier
        HistGradientBoostingRegressor IsolationForest RandomForestClassifier RandomForestRegressor
    """,
    "sklearn.feature_extraction.text": "CountVectorizer TfidfVectorizer",
    "sklearn.impute": "KNNImputer SimpleImputer",
    "sklearn.linear_model": """
        ElasticNet Lasso LassoCV LinearRegression LogisticRegression Ridge RidgeCV SGDClassifier SGDRegressor
    """,
    "sklearn.manifold": "TSNE",
    "sklearn.metrics": """
        accuracy_score adjusted_rand_score auc balanced_accuracy_score brier_score_loss classification_report
        confusion_matrix f1_score log_loss mean_absolute_error mean_absolute_percentage_error
        mean_squared_error median_absolute_error precision_recall_curve precision_score r2_score recall_score
        roc_auc_score roc_curve root_mean_squared_error silhouette_score
    """,
    "sklearn.mixture": "GaussianMixture",
    "sklearn.model_selection": "KFold StratifiedKFold TimeSeriesSplit train_test_split",
    "sklearn.naive_bayes": "BernoulliNB GaussianNB MultinomialNB",
    "sklearn.neighbors": "KNeighborsClassifier KNeighborsRegressor NearestNeighbors",
    "sklearn.preprocessing": """
        LabelEncoder MinMaxScaler OneHotEncoder OrdinalEncoder PolynomialFeatures RobustScaler StandardScaler
        label_binarize
    """,
    "sklearn.svm": "LinearSVC LinearSVR SVC SVR",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor export_text",
}
#: Attributes and methods of models, distributions and results.
ATTRIBUTES: Final = """
    alpha_ bic aic best_score_ cdf classes_ cluster_centers_ coef_ components_ cov_params covariance_
    decision_function entropy explained_variance_ explained_variance_ratio_ feature_importances_
    feature_names feature_names_in_ fit fit_predict fit_transform fun get_feature_names_out inertia_
    intercept_ intercept_stderr inverse_transform isf kneighbors labels_ lags logcdf logpdf logpmf mean_
    means_ message n_features_in_ n_iter_ nfev nit pdf pmf ppf predict predict_log_proba predict_proba pvalue
    residuals rvalue rvs scale_ score score_samples sf sol sprite statistic stderr success target
    target_names toarray todense tocsc tocsr train_score_ var_ vocabulary_ weights_
"""
#: Named arguments of these functions and methods.
KEYWORDS: Final = """
    C absolute_sigma activation algorithm alternative analyzer args as_frame average axis bandwidth
    bootstrap bounds btype callback class_weight coef0 constraints contamination correction criterion ddof
    degree distance eps equal_var eval_set factor fit_intercept fprime fs full_output gamma hessian init
    initial_guess jac kernel l1_ratio labels lambda_ learning_rate linkage loss max_df max_features max_iter
    max_leaf_nodes maxfev maxiter metric min_df min_samples min_samples_leaf min_samples_split multi_class
    multioutput n_classes n_clusters n_components n_estimators n_features n_informative n_init n_neighbors
    n_samples n_splits nan_policy ngram_range noise noverlap nperseg objective output output_dict p0 penalty
    perplexity points pos_label probability prominence random_state reg_alpha restarts return_X_y
    sample_weight scale shuffle sigma smooth solver splitter stop_words strategy stratify subsample t_eval
    t_span target_names test_size tol tolerance train_size trials validation_fraction verbose warm_start
    whiten window with_mean with_std x0 zero_division
"""
