"""The parts of Python and its libraries that are known to do nothing but compute and print.

Everything here was chosen for what it does with any arguments that are themselves made of known parts. What
writes, starts programs, loads objects, looks up attributes by name or runs text is left out.
"""

import builtins
import re
from typing import Final

from oi_tui.engine.review.python import library_settings
from oi_tui.engine.review.python import plotting_allowlist as plotting
from oi_tui.engine.review.python import science_allowlist as science


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Functions that are there without an import, which may also be handed to others.
BUILTINS: Final = _split_words(
    """
        abs all any ascii bin bool bytearray bytes callable chr complex dict dir display divmod
        enumerate filter float format frozenset hasattr hash hex id int isinstance issubclass iter
        len list map max min next oct ord pow print range repr reversed round set slice sorted str
        sum tuple zip
    """
) | {
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}
#: Built-in functions that are not known to be harmless, but cannot change what names mean.
STEADY_BUILTINS: Final = _split_words(
    """
        exit help input object open quit
    """
)
#: Constants that are there without an import.
CONSTANTS: Final = _split_words(
    """
        Ellipsis NotImplemented __name__
    """
)
#: Functions that show or measure a value without using it; anything may be given to them.
SINKS: Final = _split_words(
    """
        IPython.display.display bool callable dir display id isinstance len print repr str
    """
)
_BY_MODULE = {
    **plotting.BY_MODULE,
    **science.BY_MODULE,
    "IPython.display": """
        clear_output display
    """,
    "__future__": """
        annotations division print_function
    """,
    "ast": """
        literal_eval
    """,
    "asyncio": """
        create_task gather run sleep wait_for
    """,
    "base64": """
        b16decode b16encode b32decode b32encode b64decode b64encode urlsafe_b64decode
        urlsafe_b64encode
    """,
    "bisect": """
        bisect bisect_left bisect_right insort insort_left insort_right
    """,
    "calendar": """
        calendar day_name isleap leapdays month month_name monthcalendar monthrange weekday
    """,
    "cmath": """
        acos asin atan cos cosh e exp inf isclose isfinite log log10 phase pi polar rect sin sqrt
        tan
    """,
    "collections": """
        ChainMap Counter OrderedDict defaultdict deque
    """,
    "concurrent.futures": """
        ThreadPoolExecutor as_completed
    """,
    "copy": """
        copy deepcopy
    """,
    "csv": """
        DictReader reader
    """,
    "datetime": """
        MAXYEAR MINYEAR UTC date datetime time timedelta timezone
    """,
    "decimal": """
        Decimal ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP
    """,
    "fractions": """
        Fraction
    """,
    "functools": """
        reduce
    """,
    "abc": "",
    "contextlib": """
        nullcontext suppress
    """,
    "dataclasses": """
        asdict astuple field replace
    """,
    "difflib": """
        get_close_matches ndiff unified_diff
    """,
    "enum": """
        auto
    """,
    "hashlib": """
        blake2b blake2s md5 sha1 sha224 sha256 sha384 sha3_256 sha512
    """,
    "heapq": """
        heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest
    """,
    "html": """
        escape unescape
    """,
    "io": """
        StringIO
    """,
    "itertools": """
        accumulate chain combinations combinations_with_replacement compress count cycle dropwhile
        filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee
        zip_longest
    """,
    "itertools.chain": """
        from_iterable
    """,
    "json": """
        JSONDecodeError dumps load loads
    """,
    "math": """
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf
        erfc exp exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose
        isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi
        pow prod radians remainder sin sinh sqrt tan tanh tau trunc ulp
    """,
    "numpy": """
        __version__ abs absolute add all allclose amax amin angle any append
        apply_along_axis arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
        argmin argpartition argsort argwhere around array array2string array_equal
        array_repr array_split array_str asanyarray asarray ascontiguousarray atleast_1d
        atleast_2d average bincount bitwise_and bitwise_or bitwise_xor blackman block bool_
        broadcast_to busday_count bytes_ c_ can_cast cbrt ceil character clip column_stack
        concatenate conj convolve copy copyto corrcoef correlate cos cosh count_nonzero cov
        cross cumprod cumsum cumulative_sum datetime64 datetime_as_string deg2rad degrees
        delete diag diag_indices diagonal diff digitize divide divmod dot dsplit dstack
        dtype e ediff1d einsum empty empty_like equal errstate exp exp2 expand_dims expm1
        eye fabs finfo flatnonzero flip fliplr flipud float16 float32 float64 floating floor
        floor_divide fmax fmin fmod fromiter full full_like gcd geomspace gradient greater
        greater_equal hamming hanning heaviside histogram histogram2d hsplit hstack hypot
        identity iinfo imag in1d indices inf inner insert int16 int32 int64 int8 integer
        interp intersect1d invert is_busday isclose isfinite isin isinf isnan isnat isreal
        isscalar issubdtype ix_ kaiser kron lcm left_shift less less_equal lexsort linspace
        log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor
        logspace matmul max maximum may_share_memory mean median meshgrid mgrid min minimum
        mod modf moveaxis multiply nan nan_to_num nanargmax nanargmin nancumsum nanmax
        nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar
        ndarray ndenumerate ndim negative newaxis nonzero not_equal number object_ ogrid
        ones ones_like outer packbits pad partition percentile pi place poly1d polyadd
        polyder polyfit polyint polymul polyval positive power prod ptp put quantile r_
        rad2deg radians ravel ravel_multi_index real reciprocal remainder repeat reshape
        resize result_type right_shift rint roll rollaxis roots rot90 round row_stack s_
        searchsorted select set_printoptions setdiff1d seterr setxor1d shape shares_memory
        sign sin sinc sinh size sort split sqrt square squeeze stack std str_ subtract sum
        swapaxes take tan tanh tensordot tile timedelta64 trace transpose trapezoid trapz
        tri tril tril_indices triu triu_indices trunc ufunc uint16 uint32 uint64 uint8
        union1d unique unpackbits unravel_index vander var vdot vecdot vectorize vsplit
        vstack where zeros zeros_like
    """,
    "numpy.fft": """
        fft fft2 fftfreq fftshift ifft ifft2 irfft rfft rfftfreq
    """,
    "numpy.linalg": """
        LinAlgError cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_power
        matrix_rank multi_dot norm pinv qr slogdet solve svd
    """,
    "numpy.random": """
        Generator PCG64 RandomState SeedSequence beta binomial chisquare choice default_rng
        dirichlet exponential gamma geometric gumbel hypergeometric laplace logistic
        lognormal multinomial multivariate_normal negative_binomial normal pareto
        permutation poisson power rand randint randn random random_integers random_sample
        rayleigh seed shuffle standard_normal standard_t triangular uniform vonmises weibull
        zipf
    """,
    "operator": """
        abs add and_ contains eq floordiv ge gt le lshift lt mod mul ne neg not_ or_ pos pow rshift sub
        truediv truth xor
    """,
    "os": """
        cpu_count getcwd getpid linesep lstat name sep stat
    """,
    "os.path": """
        abspath basename commonpath commonprefix dirname exists getatime getctime getmtime getsize isabs
        isdir isfile islink join lexists normpath realpath relpath samefile sep split splitext
    """,
    "pandas": """
        BooleanDtype Categorical CategoricalDtype CategoricalIndex DataFrame DatetimeIndex
        Float64Dtype Grouper Index IndexSlice Int16Dtype Int32Dtype Int64Dtype Int8Dtype
        Interval IntervalIndex MultiIndex NA NaT NamedAgg Period PeriodIndex RangeIndex
        Series StringDtype Timedelta TimedeltaIndex Timestamp __version__ array bdate_range
        concat crosstab cut date_range factorize get_dummies infer_freq interval_range isna
        isnull json_normalize lreshape melt merge merge_asof merge_ordered notna notnull
        period_range pivot qcut timedelta_range to_datetime to_numeric to_timedelta unique
        value_counts wide_to_long
    """,
    "pandas.api.types": """
        CategoricalDtype is_bool_dtype is_categorical_dtype is_datetime64_any_dtype is_datetime64_dtype
        is_float_dtype is_integer_dtype is_list_like is_numeric_dtype is_object_dtype is_string_dtype
    """,
    "pandas.offsets": """
        BDay BMonthBegin BMonthEnd BQuarterEnd BusinessDay DateOffset Day Easter Hour Micro
        Milli Minute MonthBegin MonthEnd QuarterBegin QuarterEnd Second SemiMonthEnd Week
        WeekOfMonth YearBegin YearEnd
    """,
    "pandas.tseries.offsets": """
        BDay BMonthBegin BMonthEnd BQuarterEnd BusinessDay DateOffset Day Easter Hour Micro
        Milli Minute MonthBegin MonthEnd QuarterBegin QuarterEnd Second SemiMonthEnd Week
        WeekOfMonth YearBegin YearEnd
    """,
    "platform": """
        machine node python_implementation python_version release system
    """,
    "pprint": """
        pformat pp pprint
    """,
    "pytz": """
        UTC all_timezones common_timezones timezone utc
    """,
    "random": """
        Random betavariate choice choices expovariate gammavariate gauss getrandbits normalvariate
        randint random randrange sample seed shuffle triangular uniform
    """,
    "re": """
        A ASCII DOTALL I IGNORECASE M MULTILINE S VERBOSE X compile escape findall finditer
        fullmatch match search split sub subn
    """,
    "shutil": """
        disk_usage get_terminal_size which
    """,
    "statistics": """
        NormalDist correlation covariance fmean geometric_mean harmonic_mean linear_regression mean
        median median_grouped median_high median_low mode multimode pstdev pvariance quantiles stdev
        variance
    """,
    "string": """
        ascii_letters ascii_lowercase ascii_uppercase digits hexdigits printable punctuation
        whitespace
    """,
    "sys": """
        byteorder getsizeof maxsize platform version version_info
    """,
    "textwrap": """
        dedent fill indent shorten wrap
    """,
    "time": """
        asctime ctime gmtime localtime mktime monotonic perf_counter perf_counter_ns process_time
        sleep strftime strptime time time_ns
    """,
    "traceback": """
        format_exc print_exc
    """,
    "typing": """
        Any Callable ClassVar Dict Final Generator Iterable Iterator List Literal Mapping Optional
        Sequence Set Tuple Type Union
    """,
    "urllib.parse": """
        parse_qs parse_qsl quote quote_plus unquote unquote_plus urlencode urljoin urlparse urlsplit
        urlunparse
    """,
    "uuid": """
        NAMESPACE_DNS NAMESPACE_URL UUID uuid3 uuid4 uuid5
    """,
    "warnings": """
        catch_warnings filterwarnings simplefilter
    """,
    "xml.etree.ElementTree": """
        ParseError fromstring
    """,
    "zlib": """
        adler32 compress crc32 decompress
    """,
    "zoneinfo": """
        ZoneInfo available_timezones
    """,
    "unicodedata": """
        bidirectional category combining lookup name normalize numeric
    """,
}
#: Functions, classes and constants of modules, by their full names.
MEMBERS: Final = frozenset(
    f"{module}.{name}" for module, names in _BY_MODULE.items() for name in names.split()
)
#: Modules whose import does nothing but make their members known.
MODULES: Final = (
    (frozenset(_BY_MODULE) - {"itertools.chain"})
    | {"IPython", "concurrent", "glob", "mpl_toolkits"}
    | {"scipy.cluster", "scipy.spatial", "sklearn.feature_extraction"}
    | library_settings.CONTAINERS
)
#: Readers of files: the first argument must be the literal name of a plain file of the working directory.
READERS: Final = _split_words("pandas.read_csv pandas.read_table pandas.read_excel pandas.read_json")
#: Listers of names: with no argument, or the literal name of a folder within the working directory.
LISTERS: Final = _split_words("os.listdir os.walk glob.glob")
#: Classes that others can be made from, and decorators that leave what they are given as it is; no values.
BASES: Final = _split_words(
    "abc.ABC enum.Enum enum.IntEnum enum.StrEnum typing.NamedTuple typing.Protocol typing.TypedDict"
)
BUILTIN_BASES: Final = _split_words("dict list object") | {
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}
DECORATORS: Final = _split_words(
    """
        abc.abstractmethod contextlib.contextmanager dataclasses.dataclass enum.unique functools.cache
        functools.lru_cache functools.total_ordering
    """
)
#: Texts that are drawn: a text that is the name of a file or an address is read instead.
DRAWN_TEXTS: Final = _split_words(
    "IPython.display.Latex IPython.display.Markdown IPython.display.Math IPython.display.Pretty"
)
#: Harmless functions whose results have methods that are not.
MAKERS: Final = _split_words("pathlib.Path pathlib.Path.cwd pathlib.Path.home pathlib.PurePath")
#: Of paths of the working directory: parts of their names, what asks for one of them, and what lists them.
PATH_NAMES: Final = _split_words("name parts stem suffix suffixes")
PATH_QUESTIONS: Final = _split_words("as_posix exists is_dir is_file is_symlink stat")
PATH_LISTERS: Final = _split_words("glob iterdir rglob")
#: Functions that give back what they are given in another order or collection.
ORDERING: Final = _split_words("list reversed set sorted tuple")
#: Attributes and methods of built-in types, of what MEMBERS make, and of tables and arrays.
ATTRIBUTES: Final = _split_words(
    """
        T __name__ abs accumulate attrib add add_categories add_prefix add_suffix all any append
        appendleft argmax argmin argpartition args argsort array as_integer_ratio as_ordered
        as_unordered asfreq asof assign astimezone astype at at_time autocorr axes beta
        between between_time bfill binomial bit_length bottom byteswap capitalize case_when
        casefold cat categories ceil center chisquare choice clear clip close closed codes
        columns combine_first compare conj conjugate contains convert_dtypes copy corr
        corrwith count cov cumcount cummax cummin cumprod cumsum date day day_name
        day_of_week day_of_year dayofweek dayofyear days days_in_month daysinmonth decode
        denominator describe diagonal diff difference difference_update digest discard div
        divide dot drop drop_duplicates droplevel dropna dt dtype dtypes duplicated elements
        empty encode end endswith eq equals ewm expanding expandtabs explode exponential
        extend extendleft extract extractall factorize ffill fieldnames fill fillna find
        findall finditer findtext first first_valid_index flat flatten floor floordiv freq
        from_arrays from_breaks from_codes from_dict from_frame from_iterable from_product
        from_records from_tuples fromhex fromisoformat fromkeys fromtimestamp fullmatch
        gamma ge geometric get get_dummies get_group get_indexer get_level_values get_loc
        group groupby groupdict groups gt hasnans head hex hexdigest hour hypergeometric iat
        identical idxmax idxmin iloc imag index indices infer_objects insert integers
        intercept interpolate intersection intersection_update is_integer is_leap_year
        is_monotonic_decreasing is_monotonic_increasing is_month_end is_month_start
        is_numeric is_quarter_end is_quarter_start is_unique is_year_end is_year_start
        isalnum isalpha isascii isdecimal isdigit isdisjoint isidentifier isin islower isna
        isnull isnumeric isocalendar isoformat isoweekday isprintable isspace issubset
        issuperset istitle isupper item items itemset itemsize iter iterfind iterrows itertuples join keys
        kurt kurtosis laplace last last_valid_index le left len length levels line_num ljust
        loc logistic lognormal lookup lower lstrip lt maketrans map mask match max maxlen
        mean median melt memory_usage merge microsecond microseconds mid min minute mod mode
        month month_name most_common mul multinomial multiply multivariate_normal name names
        nanosecond nanoseconds nbytes ndim ne negative_binomial ngroup nlargest nonzero
        normal normalize notna notnull now nsmallest nth numerator nunique ohlc ordered
        outer overlaps pad pareto partition pattern pct_change permutation pivot poisson pop
        popitem popleft pow prod product ptp put quantile quantize quarter radd rand randint
        randn random rank ravel rayleigh rdiv read readable readline readlines real reduceat
        reindex remove remove_categories remove_unused_categories removeprefix removesuffix
        rename rename_axis rename_categories reorder_categories repeat replace resample
        reset_index reshape result reverse rfind right rindex rjust rmul rollback rollforward
        rolling rotate round rpartition rsplit rstrip rsub sample search searchsorted second
        seconds seek seekable select_dtypes sem set_axis set_categories set_index set_levels
        setdefault shape shift shuffle size skew slice slope sort sort_index sort_values
        sortlevel span sparse split splitlines squeeze stack standard_normal standard_t
        st_atime st_ctime st_mode st_mtime st_size
        start startswith std stdev str strftime strides string strip strptime sub subn
        submit subtract sum swapaxes swapcase swaplevel symmetric_difference tag tail take tell time
        timestamp timetuple title to_datetime64 to_dict to_flat_index to_frame to_list
        to_numpy to_period to_pydatetime to_series to_timedelta64 to_timestamp today tolist
        total total_seconds trace translate transpose triangular trim_zeros truediv truncate
        tz tz_convert tz_localize tzinfo uniform union unique unstack upper utc
        utcnow value value_counts values var variance week weekday weibull where xs year
        zfill
    """
) | _split_words(plotting.ATTRIBUTES + science.ATTRIBUTES)
#: Attributes that hand out what code did not make: that of an error is the value without the attribute, and
#: functions, generators and tracebacks have frames and tables of modules.
FOREIGN: Final = _split_words(
    """
        ag_await ag_code ag_frame cr_await cr_code cr_frame cr_origin func_closure func_code func_defaults
        func_dict func_globals gi_code gi_frame gi_yieldfrom im_class im_func im_self obj tb_frame tb_next
    """
)
#: Attributes that code may set; those of arrays that say how memory is read are none of them.
SETTABLE: Final = _split_words("columns index name names")
#: Those of them that may be called only where the arguments show.
BY_PLACE: Final = _split_words("boxplot hist")
#: Methods that are understood in some calls only; the reader of calls says in which.
RESTRICTED: Final = _split_words(
    """
        agg aggregate apply eval filter format info pivot_table query to_string transform update
    """
)
#: How many arguments may be given without a name to a function or method, where a later one may name a method
#: that is called or a module that is imported, start processes, or be a table of settings for a text.
FEW_POSITIONS: Final = {
    "pandas.crosstab": 2,
    # Older versions of scikit-learn take `n_jobs`, `memory` and `input` at these places.
    "sklearn": 3,
    "sklearn.model_selection.train_test_split": 100,
    "sklearn.cluster.AgglomerativeClustering": 2,
    "sklearn.feature_extraction.text.CountVectorizer": 0,
    "sklearn.feature_extraction.text.TfidfVectorizer": 0,
    "scipy.optimize.differential_evolution": 6,
    "seaborn": 2,
    **dict.fromkeys(("annotate", "boxplot", "hist", "pie"), 5),
    **dict.fromkeys(("figtext", "text"), 3),
    **dict.fromkeys(("set_label_text", "set_ticklabels", "set_title", "set_xlabel", "set_xticklabels"), 1),
    **dict.fromkeys(("set_ylabel", "set_yticklabels", "set_zlabel", "set_zticklabels"), 1),
    **dict.fromkeys(("title", "xlabel", "ylabel"), 1),
}
#: Methods that call functions once for each part of a table, with columns of these names.
FACETS: Final = _split_words(
    "map map_dataframe map_diag map_lower map_offdiag map_upper plot plot_joint plot_marginals"
)
#: Arguments that hold further named arguments, those of texts; they must be written out.
NESTED: Final = _split_words("annot_kws fontdict subplot_kw textprops")
#: Functions whose values have items and no names for them.
LIST_MAKERS: Final = _split_words("enumerate filter list map range reversed set sorted tuple zip")
#: Settings that texts of plots take from a table, and that start a program.
HARMFUL_SETTINGS: Final = frozenset(("usetex",))
#: Named arguments of which only these values are known.
VALUES: Final = {
    "engine": _split_words("c openpyxl pyarrow python xlrd"),
    "on_bad_lines": _split_words("error skip warn"),
}
#: What such methods may be asked to compute, by name.
REDUCTIONS: Final = _split_words(
    """
        all any count cummax cummin cumprod cumsum describe first idxmax idxmin last max mean median
        min mode nth nunique prod rank sem size skew std sum var
    """
)
#: Named arguments of known functions and methods.
KEYWORDS: Final = _split_words(
    """
        a after align_axis all allow_duplicates allow_nan ambiguous append as_index ascending
        assume_unique atol axis b base before bins by bymonth bymonthday byweekday cache cache_dates case
        categories center chunksize ci clip closed col_level colnames columns comment compact cond
        convert_dtypes copy count counts cum_weights cumulative data date_format day dayfirst days ddof
        decimal deep default default_factory deg delimiter depth digest_size divide doublequote downcast
        drop drop_first dropna dtype dtype_backend dtypes dummy_na duplicates edgeitems encoding
        encoding_errors end end_date endpoint ensure_ascii equal_nan errorbar errors escapechar exact
        exclude excluded expand false_values fieldnames fill_method fill_value fillchar fillvalue flags
        float_format float_precision floatmode flush fontweight format frac freq full group_keys header
        high hour hours how i id_vars ignore_index include include_lowest inclusive indent index
        index_col indicator infstr initial inplace interpolation interval invalid iterator j join justify
        k keep keep_default_na keep_equal keep_shape keepdims key keys label labels left_index left_on
        level like limit limit_area limit_direction line_width lines lineterminator linewidth loc loffset
        low low_memory lower mapper margins margins_name mask max_cols max_colwidth max_level max_rows
        max_workers maxlen maxsplit maxticks memory_usage meta meta_prefix method microsecond
        microseconds milliseconds min_count min_periods minticks minute minutes month months mu n n_boot
        na na_filter na_position na_rep na_values name names nanoseconds nanstr ndigits ndmin newline
        nonexistent normalize nrows num numeric_only observed on order ordered orient origin other otypes
        over p parse_dates pat percentiles periods population precision prefix prefix_sep q quarter
        quarters quotechar quoting r random_state range raw record_path record_prefix regex repeat repl
        replace reps result_names result_type retbins return_counts return_exceptions return_index
        return_inverse reverse right right_index right_on rownames rowvar rtol scale second seconds seed
        sep separators shape sheet_name show_counts show_dimensions side sigma signature size
        skip_blank_lines skipfooter skipinitialspace skipkeys skipna skiprows sort sort_dicts sort_keys
        sparse squeeze start start_date step stop strict subset suffixes suppress thousands thresh
        threshold timeout timespec to_replace true_values tz tzinfo under unit upper usecols
        usedforsecurity utc validate value value_name value_vars values var_name verbose verify_integrity
        wait weekday weeks weights width window x y year yearfirst years z
    """
) | _split_words(plotting.KEYWORDS + science.KEYWORDS)
#: Modules whose functions cannot change what names mean in other code, although they do other things.
STEADY: Final = _split_words(
    """
        PIL argparse bs4 collections csv datetime glob gzip html httpx io itertools json logging
        lxml math matplotlib numpy openpyxl os pandas pathlib platform plotly random re requests
        scipy seaborn shutil sklearn socket sqlite3 statistics statsmodels string subprocess tarfile
        tempfile time tqdm urllib uuid webbrowser xml yaml zipfile
    """
)
#: Parts of names that say that a member of such a module can change it all the same: because it changes what
#: others use, imports modules or calls functions by their names, or runs what a text or a file has in it.
UNSTEADY: Final = _split_words(
    """
        HDFStore USER_LIBRARY_PATHS builtins chdir chroot config core ctypes ctypeslib distutils
        dup2 enable_load_extension eval f2py fchdir from_formula full_load full_load_all
        getDOMImplementation get_option importlib lambda_eval library load load_all load_extension
        loads lookfor make_parser measure pickle putenv query read_array read_hdf read_pickle
        register_converters reload_library rundocs runpy safe_eval set_option switch_backend sys
        test testing unsafe_eval unsafe_load unsafe_load_all unsetenv unshare
    """
)
#: How parts of names begin that say the same: functions that have other code call what they are given.
UNSTEADY_BEGINNINGS: Final = (
    *("_", "exec_", "execl", "execv", "fork", "import", "install", "patch", "rc_file", "register", "set"),
)
#: Variables of the environment that no library takes for the name of a module or of a folder with settings.
STEADY_VARIABLES: Final = re.compile(
    r"TZ|(?!IPYTHON|JUPYTER|MPL|MATPLOTLIB|PYTHON)[A-Z][A-Z0-9_]*_(?:DEVICES|DISABLED?|ENABLED?|ENDPOINT|HOST|KEY"
    r"|LEVEL|PARALLELISM|PASSWORD|PORT|PROJECT|REGION|SECRET|THREADS|TOKEN|URL|USER|USERNAME|VERBOSITY)"
)
#: Modules of STEADY with functions that put what they are given into collections.
KEEPERS: Final = _split_words("collections itertools numpy pandas random scipy sklearn statsmodels")
#: Methods that only write or send what they are given.
WRITERS: Final = _split_words("write writelines writerow writerows send sendall savefig execute")
#: What pandas, numpy and what draws try to import on the way, beside the standard library.
BESIDES: Final = _split_words(
    """
        IPython backports bottleneck bs4 calamine contourpy cycler cython dateutil
        fastparquet fontTools fsspec gcsfs html5lib hypothesis jinja2 joblib kiwisolver lxml
        matplotlib mpl_toolkits narwhals numba numexpr numpy odf openpyxl packaging pandas
        pyarrow pyparsing pyreadstat pytest python_calamine pytz pyxlsb s3fs scipy
        sitecustomize six sqlalchemy tables tabulate threadpoolctl tzdata usercustomize
        xarray xlrd zstandard
    """
)
