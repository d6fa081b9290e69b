"""The functions, methods and types of each language that are known to do nothing but compute and print.

They are for languages that have no reader of their own. A call of any other name is listed as not checked.
`REACHING` has names that are listed wherever they stand, called or not: through them code gets at files,
programs, the network, the environment, or at functions by their names.
"""

from typing import Final


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HARMLESS: Final = {
    "javascript": _split_words(
        """
        abs acos all allSettled any apply Array ArrayBuffer asin assert at atan atan2 BigInt bind Boolean
        call catch cbrt ceil charAt charCodeAt clear clearInterval clearTimeout codePointAt concat copyWithin
        cos count create Date debug defineProperty delete DataView dir encodeURIComponent decodeURIComponent
        encodeURI decodeURI endsWith entries Error error every exp fill filter finally find findIndex
        findLast flat flatMap Float32Array Float64Array floor forEach format freeze from fromCharCode
        fromCodePoint fromEntries get getDate getDay getFullYear getHours getMinutes getMonth
        getSeconds getTime getMilliseconds getTimezoneOffset getUTCDate
        getUTCFullYear getUTCMonth group groupBy groupCollapsed groupEnd has hasOwn hasOwnProperty hypot imul
        includes indexOf info Int16Array Int32Array Int8Array Intl is isArray isFinite isInteger isNaN
        isSafeInteger join JSON keys lastIndexOf localeCompare log log10 log1p log2 Map map match matchAll
        Math max min next now Number NumberFormat DateTimeFormat Object of padEnd padStart parse parseFloat
        parseInt pop pow Promise push queueMicrotask race random RangeError reduce reduceRight RegExp repeat
        replace replaceAll resolve reject return reverse round search seal Set set setInterval setTimeout
        setDate setFullYear setHours setMinutes setMonth shift sign sin slice some sort splice split sqrt
        startsWith String stringify structuredClone subarray substr substring super Symbol SyntaxError table
        tan test then time timeEnd toDateString toExponential toFixed toISOString toLocaleDateString
        toLocaleString toLocaleTimeString toLocaleUpperCase toLowerCase toPrecision toSorted toReversed
        toString toUpperCase trace trim trimEnd trimStart trunc TypeError Uint16Array Uint32Array
        Uint8Array unshift UTC valueOf values warn WeakMap WeakSet with console performance mark
        React useState useEffect useMemo useRef createElement raw
        """
    ),
    "ruby": _split_words(
        """
        abs all? any? append Array attr_accessor attr_reader attr_writer between? capitalize ceil center
        chars chomp chunk_while clamp class clear clone collect combination compact Complex concat count cycle
        Date DateTime day delete delete_at delete_if detect dig digits divmod downcase downto drop drop_while
        dup each each_char each_cons each_entry each_line each_pair each_slice each_with_index
        each_with_object empty? end_with? entries even? except fdiv fetch filter filter_map find find_all
        find_index first flat_map flatten Float floor format freeze frozen? gcd group_by gsub has_key? Hash
        hour include? index inject insert inspect Integer invert is_a? join JSON keep_if key? keys kind_of?
        lambda last lazy lcm length lines ljust loop lstrip map match match? Math max max_by max_of min min_by
        minmax minute modulo month negative? new next nil? none? now Numeric Object odd? one? p parse
        partition permutation pop positive? pp pred prepend print printf proc Proc product push puts putc
        raise rand Random Range rassoc Rational rationalize reduce reject repeated_permutation replace
        respond_to? reverse reverse_each rindex rjust rotate round rstrip sample scan sec
        select Set shift shuffle size slice slice_when sort sort_by split sprintf sqrt squeeze srand
        start_with? step String strftime strip strptime Struct sub succ sum sum_of swapcase Symbol take
        take_while tally then times Time to_a to_c to_date to_f to_h to_i to_json to_r to_s to_set to_sym
        today tr transform_keys transform_values transpose truncate uniq unpack unshift upcase upto valid?
        values values_at wday yday year yield zero? zip merge merge! map! sort! uniq! reverse! gsub! sub!
        compact! flatten! select! reject! upcase! downcase! strip! chomp! shuffle! Comparable Enumerable
        StandardError ArgumentError RuntimeError TypeError ZeroDivisionError message backtrace
        Data with_index with_object filter! BigDecimal PI E sin cos tan atan exp log log10 log2 hypot
        cbrt generate pretty_generate block_given? itself tap call curry arity
        Benchmark Class DIG EPSILON Enumerator Exception FrozenError INFINITY IndexError KeyError Lazy MAX
        MIN MatchData Matrix Module Mutex NAN NameError NoMethodError NotImplementedError Prime Queue
        RUBY_VERSION RangeError Regexp StopIteration StringIO Thread Vector captures define escape
        named_captures prime? prime_division realtime string synchronize union STDOUT STDERR include extend
        """
    ),
    "perl": _split_words(
        """
        abs atan2 bless chomp chop chr cmp cos defined delete each eq exists exp first ge grep gt hex int
        join keys last lc lcfirst le length local localtime log lt map max maxstr min minstr my ne next no not
        oct or and xor ord our pack pop pos print printf push quotemeta rand redo ref return reverse
        rindex index say scalar shift shuffle sin sort splice split sprintf sqrt srand state sub substr sum
        sum0 time gmtime uc ucfirst uniq undef unless unpack unshift until use strict warnings utf8 feature
        Data Dumper List Util if elsif else for foreach while die warn wantarray values vec x
        package parent base constant floor ceil fmod pow qw q qq m s y tr __PACKAGE__ STDOUT STDERR
        STDIN a b new looks_like_number blessed reduce any all none product continue version given when
        default Time HiRes JSON PP encode_json decode_json
        """
    ),
    "lua": _split_words(
        """
        abs assert byte ceil char concat cos create date difftime error exp find floor fmod
        format getmetatable gmatch gsub huge insert ipairs len log lower match max min modf move next pack
        pairs pcall pi print rad rawequal rawget rawlen rawset random randomseed rep remove reverse resume
        running select setmetatable sin sort sqrt status string sub table tan tointeger tonumber tostring
        type ult unpack upper wrap xpcall yield math coroutine utf8 codepoint charpattern
        """
    ),
    "r": _split_words(
        """
        abs acast across aes aes_string aggregate all all.equal any anova aov apply approx aperm array
        arrange as.character as.data.frame as.Date as.factor as.integer as.list as.logical as.matrix
        as.numeric as.POSIXct as.vector as_tibble attr attributes ave axis barplot basename between boxplot
        c case_when cat cbind ceiling chartr chisq.test choose class coef colMeans colnames colSums
        colSums combn complete.cases conditionMessage confint contains coord_flip cor cor.test cos count cov
        crossprod cummax
        cummin cumprod cumsum cut data.frame date det diag diff difftime dim dimnames distinct
        dnorm dbinom double duplicated element_blank element_text ends_with everything exp
        expand.grid expand_grid facet_grid facet_wrap factor factorial filter Filter Find first fitted fivenum
        floor for format formatC full_join function gamma gather geom_abline geom_area geom_bar
        geom_boxplot geom_col geom_density geom_histogram geom_hline geom_jitter geom_line geom_point
        geom_smooth geom_text geom_tile geom_violin geom_vline ggplot ggtitle glimpse glm gregexpr grepl
        grep group_by gsub guides head hist identical identity if if_else ifelse inner_join integer
        interaction intersect inv invisible is.character is.data.frame is.factor is.finite is.function is.na
        is.nan is.null is.numeric ISOdate isTRUE jitter kable kmeans ksmooth labs lag lapply last layout
        lead left_join legend length levels lines list lm loess log log10 log1p log2 logical lower
        lubridate ls mad make.names Map mapply map map_chr map_dbl map_df map_int map2 match match.arg max
        mday mdy mean median melt merge message min missing mode month months mutate n n_distinct
        names nchar ncol nest NCOL NROW nlevels nls nrow numeric order outer par paste paste0 pivot_longer
        pivot_wider plot plot.new pmax pmin pnorm points polygon position_dodge prcomp predict pretty print
        prod prop.table pt pull purrr qnorm qqnorm qqline quantile quarters range rank rapply rbind
        rbinom recode reduce regexpr regmatches relocate rename rep rep_len replace
        replicate reshape residuals resid return rev rexp right_join rnorm round row.names rowMeans
        rownames rows rowsum rowSums rpois runif sample sapply scale scale_color_manual
        scale_fill_brewer scale_fill_manual scale_x_continuous scale_x_date scale_y_continuous
        scale_y_log10 sd select semi_join separate seq seq_along seq_len sequence set.seed setdiff setNames
        shapiro.test sign signif sin slice slice_head slice_max slice_min slice_sample solve sort split
        spread sprintf sqrt stack starts_with stat_summary stop stopifnot str str_c str_detect str_extract
        str_length str_pad str_remove str_replace str_replace_all str_split str_sub str_to_lower
        str_to_title str_to_upper str_trim strftime strptime strsplit strtoi sub subset substr substring
        sum summarise summarize summary suppressMessages suppressWarnings svd sweep switch Sys.Date
        Sys.time t t.test table tabulate tail tan tapply tanh text theme theme_bw theme_classic
        theme_minimal tibble title tolower toupper transform transmute tribble trimws trunc try tryCatch
        TukeyHSD typeof ungroup union unique unite unlist unnest unsplit upper var vapply vars
        vcov vector View warning wday weekdays which which.max which.min while wilcox.test with within
        xlab xlim xtabs year ydm ylab ylim ymd zoo data desc bind_rows bind_cols drop_na fill anti_join
        rowwise Negate Position Reduce
        nlm optim optimize uniroot integrate D deriv polyroot fft convolve spline splinefun approxfun
        density ecdf dist hclust cutree cmdscale princomp factanal lowess nchar rawToChar charToRaw utf8ToInt
        intToUtf8 bitwAnd bitwOr bitwXor mtcars iris nls.control proc.time Recall is.list
        repeat next break max.col mapply array rowsum crossprod kronecker dplyr ggplot2 tidyr stringr tibble
        stats graphics lubridate forcats fct_reorder fct_infreq fct_lump is.vector as.table margin.table
        addmargins nth top_n add_count tally add_row complete row_number min_rank dense_rank percent_rank
        ntile cumall cumany coalesce na_if near na.omit is.element startsWith endsWith rle inverse.rle
        base methods utils tools grDevices magrittr scales readr
        mosaicplot pairs matplot curve abline arrows segments rect symbols pie stripchart dotchart matrix
        """
    ),
    "c": _split_words(
        """
        abs acos asin atan atan2 assert atof atoi atol bsearch calloc cbrt ceil cos cosh ctime difftime div
        erf exp exp2 exp fabs fflush floor fma fmax fmin fmod fputs free frexp getchar gmtime hypot
        isalnum isalpha isdigit islower isspace isupper labs ldexp lgamma llabs localtime log log10 log2
        lround main malloc max memchr memcmp memcpy memmove memset min mktime modf pow printf putchar puts
        qsort rand realloc remainder round sin sinh sizeof snprintf sprintf sqrt srand sscanf strcat
        strchr strcmp strcpy strcspn strdup strftime strlen strncat strncmp strncpy strpbrk strrchr strspn
        strstr strtod strtok strtol strtoul tan tanh tgamma time tolower toupper trunc vprintf
        clock clock_gettime _Static_assert defined alignof offsetof int double float char long unsigned
        """
    ),
    "cpp": _split_words(
        """
        accumulate all_of any_of append array at back back_inserter begin binary_search bitset
        c_str capacity cbegin cend ceil chrono clamp clear complex copy copy_if count count_if cref data
        deque distance duration duration_cast emplace emplace_back empty end endl equal erase exchange
        exp fill find find_if first fixed for_each forward front from_chars function generate get getline
        greater gcd insert iota is_sorted isnan istringstream iter_swap join key lcm less list
        lower_bound make_pair make_shared make_tuple make_unique map max max_element merge min min_element
        minmax move multimap multiset next none_of now nth_element numeric_limits optional ostringstream
        pair partial_sort partition plus pop pop_back pop_front precision prev priority_queue push
        push_back push_front queue random_device ranges rbegin reduce ref remove_if rend
        replace reserve resize reverse rotate second set setfill setprecision setw shuffle size sort span
        stable_sort stack std stod stoi stol str string string_view stringstream substr sum swap tie
        to_string top transform tuple unique unordered_map unordered_set upper_bound value value_or vector
        visit zip runtime_error invalid_argument out_of_range what length has_value reset mt19937
        uniform_int_distribution uniform_real_distribution normal_distribution static_cast dynamic_cast
        lock_guard mutex thread join count
        """
    ),
    "rust": _split_words(
        """
        abs all any append as_bytes as_mut as_ref as_str assert assert_eq assert_ne Box bytes ceil chars
        checked_add checked_mul checked_sub chunks clamp clear clone cloned cmp collect concat contains
        contains_key copied cos count cycle dbg dedup default drain elapsed ends_with entry enumerate eprintln
        eprint err Err even exp expect extend fill filter filter_map find find_map first flat_map flatten
        floor fmt fold format fold from from_str from_utf8 fract for_each get get_mut get_or_insert_with
        hash HashMap HashSet BTreeMap BTreeSet VecDeque BinaryHeap Instant Duration now insert insert_str into
        into_iter is_alphabetic is_alphanumeric is_char_boundary is_digit is_empty is_err is_nan is_none
        is_numeric is_ok is_some is_whitespace iter iter_mut join keys last len lines ln log10 log2 main map
        map_err matches max max_by max_by_key min min_by min_by_key mul_add new next None nth ok Ok Option
        or_default or_insert or_insert_with panic parse partial_cmp peek peekable pop pop_front position pow
        powf powi print println product push push_back push_front push_str range Rc Arc rem_euclid repeat
        replace resize Result rev reverse round saturating_add saturating_sub sin Some sort sort_by
        sort_by_key sort_unstable splice split split_at split_whitespace sqrt starts_with step_by String str
        sum swap take take_while tan to_lowercase to_owned to_string to_uppercase to_vec todo trim trim_end
        trim_start trunc tuple_windows unimplemented unreachable unwrap unwrap_or unwrap_or_default
        unwrap_or_else values values_mut vec Vec windows with_capacity wrapping_add wrapping_mul zip
        derive Debug Clone Copy PartialEq Eq Hash Ord PartialOrd Default allow if and_then
        chars copied is_positive is_negative signum rposition remove retain capacity
        """
    ),
    "go": _split_words(
        """
        append cap clear close complex copy delete error float32 float64 func imag int int32 int64 len main
        make max min new panic print println real recover string uint byte rune bool uint8 uint32 uint64 fmt
        strings strconv math sort time errors bytes unicode regexp slices maps rand utf8 bits cmp big list
        heap Println Printf Print Sprintf Sprint Sprintln Errorf Split Join Contains Replace ReplaceAll
        ToUpper ToLower TrimSpace Trim HasPrefix HasSuffix Fields Repeat Index Itoa Atoi ParseFloat ParseInt
        FormatInt FormatFloat Sqrt Pow Abs Floor Ceil Max Min Mod Log Exp Sin Cos Tan Inf IsNaN Round Ints
        Strings Slice Sort SliceStable Now Since Sleep Duration Date Format Seconds Milliseconds New Is As
        Error String Len Add Sub Mul Intn Float64 Seed Done Wait Lock Unlock RLock RUnlock
        MustCompile MatchString FindAllString FindStringSubmatch Reverse Keys Values Quote Builder Title
        Count Compare Equal EqualFold NewReplacer After Unix Year Month Day Hour Minute Weekday Parse Map
        """
    ),
    "php": _split_words(
        """
        abs array array_chunk array_column array_combine array_count_values array_diff array_fill array_flip
        array_intersect array_key_exists array_keys array_merge array_pad array_pop array_product array_push
        array_rand array_reverse array_search array_shift array_slice array_splice array_sum array_unique
        array_unshift array_values arsort asort asin acos atan base64_encode base64_decode bin2hex ceil chr
        checkdate compact cos count ctype_alpha ctype_digit date date_default_timezone_set DateTime
        DateInterval DateTimeImmutable diff echo empty end explode exp false floor fmod format gmdate
        hex2bin implode in_array intdiv intval floatval strval is_array is_bool is_float is_int is_null
        is_numeric is_string isset join json_decode json_encode key krsort ksort lcfirst list log log10 ltrim
        max mb_strlen mb_strtolower mb_strtoupper mb_substr md5 microtime min mktime modify mt_rand
        next nl2br number_format ord pi pow preg_match preg_match_all preg_quote preg_split print print_r
        printf rand random_int range reset round rsort rtrim sha1 shuffle sin sleep sort sprintf sqrt
        str_contains str_ends_with str_pad str_repeat str_replace str_split str_starts_with str_word_count
        strcmp strlen strpos strrev strrpos strstr strtolower strtotime strtoupper strtr substr substr_count
        tan time trim ucfirst ucwords unset usleep var_dump var_export vsprintf wordwrap Exception getMessage
        current hash crc32 gettype settype boolval str_shuffle similar_text levenshtein
        """
    ),
    "octave": _split_words(
        """
        abs accumarray acos all any asin atan atan2 axis bar cat ceil cell cell2mat char
        class clc colon columns conv cos cov cross cumprod cumsum datestr deal deconv deg2rad det diag diff
        disp display dot double eig end erf error exp eye factorial fieldnames figure find fix fliplr flipud
        floor fprintf printf func2str gamma gcd grid hist histc hold horzcat hypot idivide ifelse imag
        ind2sub inf
        int2str int32 interp1 intersect inv isa iscell ischar isempty isequal isfield isfinite isinf
        ismember isnan isnumeric isreal isrow issorted isspace isstruct kron lcm legend length linspace log
        log10 log2 logical logspace lower lu mat2str max mean median meshgrid min mod mode nan nargin nchoosek
        ndims nnz norm nthroot num2cell num2str numel ones patch pinv plot polyfit polyval primes prod puts
        qr quantile rad2deg rand randi randn randperm rank real regexp regexprep rem repmat reshape roots
        rot90 round rows setdiff sign sin single size sort sprintf sqrt squeeze std strcat strcmp strcmpi
        strfind strjoin strrep strsplit strtrim struct sub2ind subplot sum surf svd tan text tic title toc
        trace trapz tril triu true false uint8 union unique upper var vertcat warning xlabel xlim xor ylabel
        ylim zeros cputime clock datenum fzero quad integral contour mesh scatter loglog
        semilogx semilogy corr corrcoef isprime factor
        """
    ),
    "java": _split_words(
        """
        abs add addAll addFirst addLast allMatch anyMatch append apply Array ArrayDeque ArrayList Arrays
        asList average BigDecimal BigInteger boxed ceil charAt chars clear clone collect Collections
        Collectors compare compareTo computeIfAbsent concat contains containsKey containsValue copyOf
        copyOfRange cos count currentTimeMillis deepToString distinct divide doubleValue Double endsWith
        entrySet equals equalsIgnoreCase Exception exp fill filter findAny findFirst flatMap floor floorMod
        forEach format formatted get getAsDouble getAsInt getClass getDayOfWeek getFirst getKey getLast
        getMessage getMonth getOrDefault getSimpleName getSum getValue getYear getAverage getMax getMin
        groupingBy hashCode HashMap HashSet identity ifPresent incrementAndGet indexOf insert Integer intValue
        isBlank isEmpty isPresent iterate iterator join joining keySet lastIndexOf length limit LinkedHashMap
        LinkedList List listIterator LocalDate LocalDateTime log log10 Long longValue main map Map mapToInt
        mapToDouble mapToObj matches max merge min minus minusDays mod multiply naturalOrder nanoTime nextInt
        nextDouble nextGaussian noneMatch now nonNull of ofDays ofPattern Optional orElse orElseThrow out
        parse parseDouble parseInt parseLong peek plus plusDays plusMonths poll pop pow print printf println
        PriorityQueue push put putAll putIfAbsent random Random range rangeClosed reduce remove removeFirst
        removeIf removeLast repeat replace replaceAll reverse reversed reverseOrder round Runnable
        RuntimeException IllegalArgumentException IllegalStateException Set set setCharAt shuffle sin
        size skip sleep sort sorted split sqrt stack Stack startsWith stream Stream String StringBuilder
        StringBuffer strip sublist subList substring subtract sum summaryStatistics super swap tan test this
        toArray toCharArray toList toLowerCase toMap toSet toString toUpperCase TreeMap TreeSet trim
        unmodifiableList valueOf values max IntStream DoubleStream partitioningBy counting summingInt
        averagingInt averagingDouble comparing comparingInt thenComparing between toDays AtomicInteger
        lines isDigit isLetter isUpperCase getNumericValue requireNonNull record setScale
        """
    ),
    "julia": _split_words(
        """
        abs abs2 acos all any append! argmax argmin Array asin assert atan axes basename BigFloat BigInt
        big broadcast cat ceil clamp cld collect complex contains convert copy cor cos count
        cross cumprod cumsum Date DateTime day deepcopy delete! det diag diff digits
        Dict divrem dot eachcol eachindex eachmatch eachrow eigen eigvals eltype empty! endswith enumerate eps
        error exp extrema factorial falses fill filter filter! findall findfirst findlast findmax findmin
        first fld Float32 Float64 floor foldl foreach gcd get get! getindex hasfield haskey hcat hypot
        identity ifelse in indexin insert! Int Int64 intersect inv invperm isa isempty iseven isfinite
        isless ismissing isnan isnothing isodd isprime issorted issubset iterate join keys kron last lcm
        length LinRange log log10 log1p log2 lowercase lpad lstrip lu map map! mapreduce mapslices
        match Matrix max maximum mean median merge min minimum mod mod1 month ncodeunits ndims norm now nrow
        ncol ntuple occursin one ones only pairs parse permutedims pop! popfirst! print println printstyled
        prod push! pushfirst! qr quantile rand randn randperm randstring range rationalize real reduce rem
        repeat replace reshape reverse round rpad rstrip searchsortedfirst Set setdiff show sign sin size
        skipmissing sleep sort sort! sortperm split splice! sqrt startswith std stdout string String strip
        sum svd Symbol tan throw time titlecase today trues trunc tuple typeof unique union
        uppercase values var vcat Vector vec view year zero zeros zip time_ns DataFrame describe combine
        groupby select transform subset names rename Tuple Pair Rational isapprox max plot plot! scatter
        scatter! histogram bar xlabel! ylabel! title! @time @show @assert @elapsed @views @inbounds @sprintf
        @printf @simd @. @test @testset @btime Statistics LinearAlgebra Random Dates Printf DataFrames Base
        Plots ArgumentError BoundsError DomainError
        """
    ),
    "powershell": _split_words(
        """
        where-object foreach-object select-object sort-object group-object measure-object format-table
        format-list format-wide write-output write-host write-warning write-error write-verbose out-string
        out-host out-null convertto-json convertfrom-json convertto-csv convertfrom-csv get-date get-random
        get-member get-unique select-string compare-object measure-command
        start-sleep join-path split-path new-timespan get-culture echo sort select where group measure ft
        fl foreach write compare sleep max min math string int int32 int64 double datetime timespan
        array list convert regex round floor ceiling abs pow sqrt truncate split join replace tostring
        toupper tolower trim trimstart trimend contains startswith endswith indexof substring add addrange
        count parse format matches match isnullorempty isnullorwhitespace padleft padright insert
        adddays addmonths addhours addyears subtract tochararray reverse sort equals compareto gettype
        containskey keys values pscustomobject ordered hashtable bool char decimal long float void psobject
        system collections generic linq enumerable range sum toarray guid newguid version %
        fullname length name
        """
    ),
    "fish": _split_words(
        """
        echo printf string math count set for end function if else switch case while begin and or not test
        [ true false return break continue contains random seq ls cat head tail wc sort uniq cut grep tr pwd
        date basename dirname status argparse isatty sleep du df uname whoami
        """
    ),
}
HARMLESS["cpp"] = HARMLESS["cpp"] | HARMLESS["c"]

REACHING: Final = {
    "javascript": _split_words(
        """
        require import module fs process child_process os net http https http2 dns tls dgram vm v8 cluster
        worker_threads inspector repl fetch Function eval globalThis global window document navigator
        WebAssembly constructor __proto__ XMLHttpRequest WebSocket EventSource Worker Deno Bun
        localStorage sessionStorage indexedDB caches location Reflect Proxy Script unlink unlinkSync rmSync
        execSync spawnSync writeFileSync
        """
    ),
    "ruby": _split_words(
        """
        ENV ARGF IO File Dir FileUtils Pathname Kernel Process Signal ObjectSpace RubyVM TracePoint
        Fiddle Open3 PTY Net Socket TCPSocket TCPServer UDPSocket URI Marshal YAML ERB Gem Bundler binding
        system exec spawn fork syscall exit exit! abort at_exit trap eval instance_eval class_eval
        module_eval instance_exec send public_send __send__ method instance_method const_get define_method
        require require_relative load autoload open readlines $stdout $stderr method_missing
        create_additions
        """
    ),
    "perl": _split_words(
        """
        CORE GLOBAL POSIX unlink rmdir mkdir rename link symlink truncate chmod chown utime open sysopen
        opendir readdir syscall system exec fork kill wait waitpid exit eval do require readpipe qx glob
        chdir chroot umask socket connect bind listen accept send recv shmget dbmopen dump alarm
        getpwnam getpwent gethostbyname sysread syswrite BEGIN END INIT CHECK AUTOLOAD DESTROY
        """
    ),
    "lua": _split_words(
        """
        os io debug package require load loadstring loadfile dofile _G _ENV setfenv getfenv socket lfs ffi
        dump
        """
    ),
    "r": _split_words(
        """
        unlink file.remove file_delete dir_delete system system2 shell pipe eval evalq parse str2lang
        str2expression do.call match.fun get mget getAnywhere getFromNamespace assign Sys.getenv Sys.setenv
        source sys.source dyn.load .Internal .Call .External .C .Primitive quit q setwd install.packages
        globalenv baseenv environment new.env sys.function parent.frame file.create file.copy
        file.rename file.append dir.create readRDS load save saveRDS save.image Sys.chmod on.exit
        reg.finalizer addTaskCallback readLines readline scan list.files dir
        """
    ),
    "c": _split_words(
        """
        unlink unlinkat remove rmdir rename system popen fork vfork clone execv execve execvp execvpe execl
        execlp execle posix_spawn posix_spawnp syscall dlopen dlsym asm __asm__ __asm ptrace kill raise
        truncate ftruncate creat open openat fopen freopen fdopen mkdir symlink link chmod fchmod chown
        mknod mkfifo mount umount reboot setuid setgid getenv environ setenv putenv socket connect
        gethostbyname getaddrinfo sendto send recv mmap mprotect nftw signal sigaction atexit exit _exit abort
        """
    ),
    "cpp": _split_words("filesystem ofstream ifstream fstream system fs"),
    "rust": _split_words(
        """
        fs process env net libc asm global_asm unsafe Command File OpenOptions TcpStream TcpListener UdpSocket
        include_str include_bytes include extern ToSocketAddrs transmute unix reqwest hyper tokio
        """
    ),
    "go": _split_words(
        """
        os exec syscall unix net http plugin unsafe ioutil cgo reflect runtime sql
        """
    ),
    "php": _split_words(
        """
        exec shell_exec system passthru proc_open popen eval assert include include_once require require_once
        unlink rmdir call_user_func call_user_func_array array_map array_filter usort
        register_shutdown_function
        _ENV _SERVER GLOBALS PDO mysqli SplFileObject ZipArchive FFI ReflectionFunction ReflectionMethod
        file_get_contents file_put_contents fopen file readfile dl putenv ini_set mail
        """
    ),
    "octave": _split_words(
        """
        delete unlink rmdir system shell_cmd unix dos popen exec fork eval evalc evalin feval source run
        str2func getenv setenv exit quit diary rename movefile cd chdir addpath
        """
    ),
    "java": _split_words(
        """
        Runtime ProcessBuilder ProcessHandle Files File FileWriter FileReader FileOutputStream FileInputStream
        RandomAccessFile FileChannel PrintWriter PrintStream Paths Path Class ClassLoader URLClassLoader
        MethodHandles Unsafe System.exit System.load System.loadLibrary System.getenv System.getProperty
        System.setProperty System.setOut ObjectInputStream ScriptEngine Socket ServerSocket URL URI
        HttpClient InetAddress SocketChannel java.net
        """
    ),
    "julia": _split_words(
        """
        rm mv cp run pipeline ccall @ccall eval @eval include include_string getfield getproperty ENV exit
        quit
        atexit chmod chown symlink hardlink mkdir mkpath touch truncate unlink download connect listen open
        write read readdir walkdir cd Filesystem Sockets Libdl Core Main deserialize Serialization Pkg
        invokelatest LOAD_PATH DEPOT_PATH
        """
    ),
    "powershell": _split_words("$env $profile $executioncontext $psscriptroot_"),
    "fish": frozenset(),
}
REACHING["cpp"] = REACHING["cpp"] | REACHING["c"]
for _table in (HARMLESS, REACHING):
    _table["typescript"] = _table["react"] = _table["javascript"]

#: JavaScript: the functions that are called by their names alone, and keywords. All others are methods.
JAVASCRIPT_FUNCTIONS: Final = _split_words(
    """
    async await case catch const constructor delete do else enum for function get if in instanceof let
    new of return set static switch throw typeof var void while with yield Array ArrayBuffer BigInt
    Boolean clearInterval clearTimeout createElement DataView Date DateTimeFormat decodeURI
    decodeURIComponent encodeURI encodeURIComponent Error Float32Array Float64Array Int16Array
    Int32Array Int8Array isFinite isNaN Map Number NumberFormat Object parseFloat parseInt Promise
    queueMicrotask RangeError RegExp Set setInterval setTimeout String structuredClone super Symbol
    SyntaxError TypeError Uint16Array Uint32Array Uint8Array useEffect useMemo useRef useState WeakMap
    WeakSet
    """
)
#: Packages of R that do nothing by being loaded.
R_PACKAGES: Final = _split_words(
    """
    base dplyr forcats ggplot2 graphics grDevices lubridate magrittr methods purrr readr scales stats stringr
    tibble tidyr tools utils zoo
    """
)

#: Words that stand in front of a parenthesis, or of a command, and call nothing.
KEYWORDS: Final = _split_words(
    """
    if else elseif elsif for foreach while until unless switch case when match loop do done end begin then in
    is not and or xor return yield await async function func fn def sub let const var mut pub struct enum impl
    class interface trait type module using import package namespace template typename typedef try catch
    except
    finally ensure rescue throw throws raise new delete instanceof typeof void sizeof extends implements
    static
    final public private protected abstract override this self super nil null none undefined true false
    repeat break continue next redo retry goto default select range defer go chan map local global
    nonlocal const auto register volatile inline where with as of from use echo print extern dyn ref move
    NULL TRUE FALSE NA NaN Inf begin process param filter END BEGIN __END__ elif fi esac int double float
    boolean char long short unsigned signed byte bool string record sealed permits macro quote baremodule
    mutable primitive endfunction endif endfor endwhile persistent
    """
)
