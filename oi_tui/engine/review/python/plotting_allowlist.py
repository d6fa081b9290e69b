"""The parts of matplotlib and seaborn that are known to do nothing but compute and draw.

Left out is what writes files, fetches data, imports modules by name, and what lets a text be set by LaTeX,
which is a program of its own (`usetex`).
"""

import re
from typing import Final

_COLORMAPS = """
    Accent Blues BrBG BuGn BuPu CMRmap Dark2 GnBu Greens Greys OrRd Oranges PRGn Paired Pastel1 Pastel2
    PiYG PuBu PuBuGn PuOr PuRd Purples RdBu RdGy RdPu RdYlBu RdYlGn Reds Set1 Set2 Set3 Spectral YlGn
    YlGnBu YlOrBr YlOrRd autumn binary bone brg bwr cividis cool coolwarm copper cubehelix gray hot hsv
    inferno jet magma plasma rainbow seismic spring summer tab10 tab20 tab20b tab20c terrain turbo twilight
    viridis winter
"""
#: Functions, classes and constants, by the names of their modules.
BY_MODULE: Final = {
    "matplotlib": "__version__ colormaps get_backend",
    "matplotlib.cm": f"ScalarMappable get_cmap {_COLORMAPS}",
    "matplotlib.collections": "LineCollection PatchCollection PolyCollection",
    "matplotlib.colors": """
        BASE_COLORS BoundaryNorm CSS4_COLORS CenteredNorm LinearSegmentedColormap ListedColormap LogNorm
        Normalize PowerNorm SymLogNorm TABLEAU_COLORS TwoSlopeNorm hex2color rgb2hex to_hex to_rgb to_rgba
    """,
    "matplotlib.dates": """
        AutoDateFormatter AutoDateLocator ConciseDateFormatter DateFormatter DayLocator HourLocator
        MinuteLocator MonthLocator WeekdayLocator YearLocator date2num num2date
    """,
    "matplotlib.gridspec": "GridSpec",
    "matplotlib.lines": "Line2D",
    "matplotlib.patches": """
        Arc Arrow Circle ConnectionPatch Ellipse FancyArrowPatch FancyBboxPatch Patch Polygon Rectangle
        RegularPolygon Wedge
    """,
    "matplotlib.pyplot": """
        Circle FuncFormatter Line2D MaxNLocator MultipleLocator Polygon Rectangle acorr annotate arrow
        autoscale axes axhline axhspan axis axline axvline axvspan bar bar_label barbs barh box boxplot
        broken_barh cla clabel clf clim close cohere colorbar contour contourf csd delaxes draw errorbar
        eventplot figaspect figlegend fignum_exists figtext figure fill fill_between fill_betweenx gca gcf
        get_cmap get_fignums grid hexbin hist hist2d hlines imshow ioff ion legend locator_params loglog
        magnitude_spectrum margins matshow minorticks_off minorticks_on pcolor pcolormesh phase_spectrum pie
        plot polar psd quiver quiverkey rgrids sca scatter semilogx semilogy set_cmap show specgram spy
        stackplot stairs stem step streamplot subplot subplot2grid subplot_mosaic subplots subplots_adjust
        suptitle table text thetagrids tick_params ticklabel_format tight_layout title tricontour tricontourf
        tripcolor triplot twinx twiny violinplot vlines xcorr xlabel xlim xscale xticks ylabel ylim yscale
        yticks
    """,
    "matplotlib.pyplot.cm": f"ScalarMappable get_cmap {_COLORMAPS}",
    "matplotlib.ticker": """
        AutoLocator AutoMinorLocator EngFormatter FixedFormatter FixedLocator FormatStrFormatter
        FuncFormatter LinearLocator LogLocator MaxNLocator MultipleLocator NullFormatter NullLocator
        PercentFormatter ScalarFormatter
    """,
    "mpl_toolkits.mplot3d": "Axes3D",
    "pandas.plotting": "autocorrelation_plot lag_plot scatter_matrix",
    "seaborn": """
        FacetGrid JointGrid PairGrid barplot blend_palette boxenplot boxplot catplot clustermap
        color_palette countplot cubehelix_palette dark_palette despine displot diverging_palette ecdfplot
        heatmap histplot hls_palette husl_palette jointplot kdeplot light_palette lineplot lmplot
        move_legend pairplot pointplot regplot relplot residplot rugplot scatterplot
        set_color_codes set_palette stripplot swarmplot violinplot
    """,
}
#: Attributes and methods of figures, axes and what is drawn in them, and of the grids of seaborn.
ATTRIBUTES: Final = """
    acorr add_artist add_axes add_collection add_gridspec add_legend add_line add_patch add_subplot
    align_labels annotate area arrow autofmt_xdate autoscale autoscale_view autoscale_x autoscale_y ax
    ax_joint ax_marg_x ax_marg_y axes_dict axhline axhspan axis axline axvline axvspan bar bar_label
    barbs barh bottom box boxplot broken_barh cax cla clabel clf cmap cohere colorbar containers contour
    contourf csd despine dpi ecdf errorbar eventplot fig figure fill_between fill_betweenx flatten gca
    get_axes get_children get_cmap get_color get_facecolor get_figheight get_figure get_figwidth
    get_gridspec get_height get_label get_legend get_legend_handles_labels get_lines get_linestyle
    get_linewidth get_position get_size_inches get_text get_title get_width get_x get_xaxis get_xbound
    get_xdata get_xlabel get_xlim get_xticklabels get_xticklines get_xticks get_xy get_xydata get_y
    get_yaxis get_ybound get_ydata get_ylabel get_ylim get_yticklabels get_yticks grid hexbin hist
    hist2d hlines imshow inset_axes invert_xaxis invert_yaxis invert_zaxis kde label_outer legend
    legend_elements lines loglog magnitude_spectrum map_dataframe map_diag map_lower map_offdiag
    map_upper margins matshow minorticks_off minorticks_on patch patches pcolor pcolormesh
    phase_spectrum pie plot plot_joint plot_marginals plot_surface plot_trisurf plot_wireframe psd
    quiver quiverkey refline relim resampled reversed scatter secondary_xaxis secondary_yaxis semilogx
    semilogy set set_alpha set_antialiased set_array set_aspect set_axis_labels set_axis_off set_axis_on
    set_axisbelow set_box_aspect set_clim set_clip_on set_cmap set_color set_data set_dpi set_edgecolor
    set_facecolor set_figheight set_figwidth set_fontsize set_frame_on set_ha set_height
    set_horizontalalignment set_label set_label_coords set_label_position set_label_text set_linestyle
    set_linewidth set_major_formatter set_major_locator set_marker set_markersize set_minor_formatter
    set_minor_locator set_norm set_offsets set_over set_position set_rlabel_position set_rotation
    set_size_inches set_text set_theta_direction set_theta_offset set_theta_zero_location
    set_tick_params set_ticklabels set_ticks set_ticks_position set_title set_titles set_under set_va
    set_verticalalignment set_visible set_weight set_width set_xbound set_xdata set_xlabel set_xlabels
    set_xlim set_xmargin set_xscale set_xticklabels set_xticks set_ybound set_ydata set_ylabel
    set_ylabels set_ylim set_ymargin set_yscale set_yticklabels set_yticks set_zlabel set_zlim
    set_zorder set_zticks show specgram spines spy stackplot stairs stem step streamplot subplot_mosaic
    subplots subplots_adjust suptitle supxlabel supylabel table text texts tick_bottom tick_left
    tick_params tick_right tick_top ticklabel_format tight_layout top transAxes transData transFigure
    tricontour tricontourf tripcolor triplot twinx twiny view_init viewlim violinplot vlines xaxis xcorr
    yaxis zaxis
"""
#: Named arguments of these functions and methods.
KEYWORDS: Final = """
    N align alpha angle angles animated annot antialiased arrowprops aspect autopct autorange ax axes
    azim bbox bbox_to_anchor bins binwidth borderpad bottom box_aspect boxprops bw_adjust bw_method c
    cap_style capprops capsize capthick cax cbar cbar_ax ccw center cmap col col_order col_wrap color
    colorbar colors column_spacing columnspacing common_norm connectionstyle constrained_layout corner
    cumulative cut dashes data density diag_kind direction discrete dodge dpi drawstyle ec ecolor
    edgecolor edgecolors element elev elinewidth errorbar explode extend extent facecolor facecolors fc
    figsize fill fill_value fillstyle fit_reg fmt fontfamily fontsize fontstyle fontweight fraction
    frameon gridsize ha handlelength handles head_length head_width height height_ratios histtype
    horizontalalignment hspace hue hue_norm hue_order inner kde kind label label_type labelcolor
    labeldistance labelpad labelrotation labels labelsize layout lc left legend legend_out length levels
    line_kws linecolor linestyle linestyles linewidth linewidths linthresh loc log log_scale loglog logx
    logy ls lw major margin_titles marginal_ticks mark_right marker markeredgecolor markeredgewidth
    markerfacecolor markers markerscale markersize max_num meanline meanprops medianprops mew mfc minor
    mirror ms multialignment multiple n_levels nbins ncol ncols ncurves ndivs norm notch nrows num
    numticks offset orient orientation origin overlap pad pad_inches palette patch_artist pctdistance
    pickradius plot_kws position positions projection radius rasterized ratio rect right robust rot
    rotation rotation_mode row row_order rug rug_kws s secondary_y shade shadow share_all sharex sharey
    showcaps showfliers showmeans showmedians shrink size_order sizes solid_capstyle space spacing
    square stacked startangle stat step style style_order subplots suptitle sym symbol ticks
    tight_layout title title_fontsize titlesize top transform triu va vert verticalalignment vmax vmin
    weight where whis width width_ratios wspace xerr xlabel xlim xmax xmin xscale xticklabels xticks xy
    xycoords xytext yerr ylabel ylim ymax ymin yscale yticklabels yticks zdir zlabel zorder
"""
#: Styles that come with matplotlib; another name may be that of a file, or of a module that is imported.
_STYLES = """
    Solarize_Light2 bmh classic dark_background default fast fivethirtyeight ggplot grayscale petroff10
    seaborn seaborn-bright seaborn-colorblind seaborn-dark seaborn-dark-palette seaborn-darkgrid
    seaborn-deep seaborn-muted seaborn-notebook seaborn-paper seaborn-pastel seaborn-poster seaborn-talk
    seaborn-ticks seaborn-v0_8 seaborn-v0_8-bright seaborn-v0_8-colorblind seaborn-v0_8-dark
    seaborn-v0_8-dark-palette seaborn-v0_8-darkgrid seaborn-v0_8-deep seaborn-v0_8-muted
    seaborn-v0_8-notebook seaborn-v0_8-paper seaborn-v0_8-pastel seaborn-v0_8-poster seaborn-v0_8-talk
    seaborn-v0_8-ticks seaborn-v0_8-white seaborn-v0_8-whitegrid seaborn-white seaborn-whitegrid
    tableau-colorblind10
"""
STYLES: Final = frozenset(_STYLES.split())
#: Backends that come with matplotlib and write nothing; another may be a module that is imported.
BACKENDS: Final = frozenset(("agg", "Agg", "inline", "nbagg", "nbAgg", "Qt5Agg", "QtAgg", "TkAgg"))
#: Settings of matplotlib that say how plots look. `figure.hooks`, for one, names functions that are called.
_LOOK: Final = re.compile(
    r"(?:axes|axes3d|boxplot|contour|date|errorbar|font|grid|hist|image|legend|lines|patch|scatter|xtick|ytick)\.[\w.-]+"
    r"|figure\.(?:autolayout|constrained_layout\.use|dpi|edgecolor|facecolor|figsize|frameon|labelsize|labelweight"
    r"|max_open_warning|subplot\.\w+|titlesize|titleweight)|savefig\.(?:bbox|dpi|edgecolor|facecolor|pad_inches)"
)


def is_look(setting: str) -> bool:
    """Return whether a setting of matplotlib changes only what plots look like."""
    # A cycle of properties may be a text, which matplotlib evaluates.
    return _LOOK.fullmatch(setting) is not None and setting != "axes.prop_cycle"
