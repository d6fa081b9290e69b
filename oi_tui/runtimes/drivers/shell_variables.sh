# What the shell remembers: read by a subshell of it (bash, zsh, or any plain sh), so that nothing of the shell
# changes, no trap of the person's is sprung, no option of theirs matters, and the shell is free at once. `__oi_asked` holds the nonce, and the name when one variable is asked for.
# What is found goes to a file as fields that end in NUL, five for each: name, kind, first bytes, count, exported.

\set +euxvn 2>/dev/null
if [ -n "${BASH_VERSION:-}" ]; then
	\shopt -u expand_aliases
	\unset -f builtin command compgen eval printf read
elif [ -n "${ZSH_VERSION:-}" ]; then
	\builtin emulate zsh
	\builtin setopt no_aliases extended_glob
	\builtin unfunction builtin command printf eval 2>/dev/null
else
	\unalias -a
	\unset -f command printf eval sed tr
fi
# Built in, so that it is there without PATH; a plain sh has no word for that.
if [ -n "${BASH_VERSION:-}${ZSH_VERSION:-}" ]; then
	__oi_print() { builtin printf "$@"; }
else
	__oi_print() { command printf "$@"; }
fi

# Bash before 4.4, as macOS has it, has no maps of its own and does not tell what kind a variable is.
__oi_maps=${BASH_VERSION:-}${ZSH_VERSION:-}
case ${BASH_VERSION:-} in [0-3].* | 4.[0-3].*) __oi_maps= ;; esac

__oi_nonce=${__oi_asked%% *}
__oi_wanted=${__oi_asked#* }
__oi_most=200
__oi_left=2000
[ "$__oi_wanted" = "$__oi_asked" ] && __oi_wanted= || __oi_most=20000

# Whether the name is one that the person's code made.
__oi_is_new() {
	[ -z "$__oi_wanted" ] || [ "$__oi_wanted" = "$1" ] || return 1
	case $1 in
	__oi_* | _ | BASH_ARGV0 | BASH_COMPAT | BASH_REMATCH | COLUMNS | FUNCNAME | IFS | LINENO | LINES | OLDPWD | OPTARG | OPTIND | PIPESTATUS | \
		PPID | PS1 | PS2 | PS4 | PWD | SECONDS | cd_to) return 1 ;;
	esac
	if [ -n "$__oi_maps" ]; then
		[ -z "${__oi_old[$1]:-}" ] || return 1
	else
		case "
$__oi_known
" in
		*"
$1
"*) return 1 ;;
		esac
	fi
	# Thousands take long and are too many to look at.
	__oi_left=$((__oi_left - 1))
	[ "$__oi_left" -ge 0 ]
}

__oi_bash() {
	local __oi_names __oi_name __oi_kind __oi_count __oi_value __oi_marks
	__oi_names=$(compgen -v)
	if [ -n "$__oi_maps" ]; then
		local -A __oi_old
		for __oi_name in $__oi_known; do __oi_old[$__oi_name]=1; done
	fi
	LC_ALL=C
	for __oi_name in $__oi_names; do
		__oi_is_new "$__oi_name" || continue
		__oi_kind=string __oi_marks=
		eval "__oi_count=\${#$__oi_name} __oi_value=\${$__oi_name:0:$__oi_most}"
		if [ -n "$__oi_maps" ]; then
			eval "__oi_marks=\${$__oi_name@a}"
		else
			# declare -ix NAME=VALUE
			__oi_marks=$(declare -p "$__oi_name" 2>/dev/null)
			__oi_marks=${__oi_marks#declare }
			__oi_marks=${__oi_marks%% *}
		fi
		case $__oi_marks in
		*A*) __oi_kind=map ;;
		*a*) __oi_kind=array ;;
		*i*) __oi_kind=integer ;;
		esac
		case $__oi_kind in
		map | array)
			eval "__oi_count=\${#$__oi_name[@]}"
			__oi_value=
			[ -z "$__oi_wanted" ] || eval "__oi_value=\$(__oi_show \"\${!$__oi_name[@]}\")"
			;;
		esac
		case $__oi_marks in *x*) __oi_marks=1 ;; *) __oi_marks= ;; esac
		__oi_print '%s\0' "$__oi_name" "$__oi_kind" "$__oi_value" "$__oi_count" "$__oi_marks"
	done
	for __oi_name in $(compgen -A function); do
		__oi_is_new "$__oi_name" || continue
		__oi_value=
		[ -z "$__oi_wanted" ] || __oi_value=$(declare -f "$__oi_name")
		__oi_print '%s\0' "$__oi_name" function "${__oi_value:0:$__oi_most}" '' ''
	done
	for __oi_name in "${!BASH_ALIASES[@]}"; do
		__oi_is_new "$__oi_name" || continue
		__oi_value=${BASH_ALIASES[$__oi_name]}
		__oi_print '%s\0' "$__oi_name" alias "${__oi_value:0:$__oi_most}" "${#__oi_value}" ''
	done
	[ -z "$__oi_maps" ] || return 0
	# alias NAME='VALUE', in words that the shell can read back
	alias -p | while IFS= read -r __oi_name; do
		__oi_name=${__oi_name#alias }
		eval "__oi_value=${__oi_name#*=}" 2>/dev/null || continue
		__oi_name=${__oi_name%%=*}
		__oi_is_new "$__oi_name" || continue
		__oi_print '%s\0' "$__oi_name" alias "${__oi_value:0:$__oi_most}" "${#__oi_value}" ''
	done
}

# The first elements of the array or map that is asked for, by their keys.
__oi_show() {
	local __oi_key __oi_left=200
	for __oi_key; do
		[ $((__oi_left -= 1)) -ge 0 ] || break
		eval "__oi_print '%s = %.500s\\n' \"\$__oi_key\" \"\${$__oi_wanted[\$__oi_key]}\""
	done
}

__oi_zsh() {
	local __oi_name __oi_kind __oi_type __oi_value __oi_count __oi_marks
	local -A __oi_types __oi_old
	for __oi_name in ${(f)__oi_known}; do __oi_old[$__oi_name]=1; done
	set -A __oi_types "${(@kv)parameters}"
	for __oi_name in "${(@ko)__oi_types}"; do
		__oi_type=${__oi_types[$__oi_name]}
		case $__oi_type in *special* | *undefined* | *hide*) continue ;; esac
		__oi_is_new "$__oi_name" || continue
		__oi_value= __oi_count= __oi_marks=
		case $__oi_type in
		association*)
			__oi_kind=map
			__oi_count=${#${(Pk)__oi_name}}
			[ -z "$__oi_wanted" ] || eval "__oi_value=\$(__oi_print '%s = %.500s\\n' \"\${(@kv)$__oi_name}\")"
			;;
		array*)
			__oi_kind=array
			__oi_count=${(P)#__oi_name}
			[ -z "$__oi_wanted" ] || __oi_value=${(F)${(@P)__oi_name}[1,200]}
			;;
		*)
			__oi_kind=string
			case $__oi_type in integer* | float*) __oi_kind=${__oi_type%%-*} ;; esac
			__oi_value=${(P)__oi_name}
			__oi_count=${#__oi_value}
			;;
		esac
		case $__oi_type in *export*) __oi_marks=1 ;; esac
		__oi_print '%s\0' "$__oi_name" "$__oi_kind" "${__oi_value[1,$__oi_most]}" "$__oi_count" "$__oi_marks"
	done
	for __oi_name in "${(@ko)functions}"; do
		__oi_is_new "$__oi_name" || continue
		__oi_value=
		[ -z "$__oi_wanted" ] || __oi_value=${functions[$__oi_name]}
		__oi_print '%s\0' "$__oi_name" function "${__oi_value[1,$__oi_most]}" '' ''
	done
	for __oi_name in "${(@ko)aliases}"; do
		__oi_is_new "$__oi_name" || continue
		__oi_value=${aliases[$__oi_name]}
		__oi_print '%s\0' "$__oi_name" alias "${__oi_value[1,$__oi_most]}" "${#__oi_value}" ''
	done
}

__oi_sh() {
	# Only what it was given at its start is known before; that is what the system keeps of it. Where it keeps
	# nothing, the driver has noted it.
	[ ! -r /proc/$$/environ ] || __oi_known=$(command -p tr '\0' '\n' </proc/$$/environ | command -p sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p')
	for __oi_name in $(set | command -p sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
		__oi_is_new "$__oi_name" || continue
		# A line of some value may look like the beginning of a variable.
		eval "[ \"\${$__oi_name+x}\" ]" || continue
		eval "__oi_value=\$$__oi_name"
		__oi_print '%s\0%s\0%.'$__oi_most's\0%s\0\0' "$__oi_name" string "$__oi_value" "${#__oi_value}"
	done
	for __oi_name in $(__oi_print '%s\n' $__oi_defined | command -p sort -u); do
		__oi_is_new "$__oi_name" || continue
		case $(type "$__oi_name" 2>/dev/null) in
		*function*) __oi_print '%s\0%s\0\0\0\0' "$__oi_name" function ;;
		esac
	done
}

{
	if [ -n "${BASH_VERSION:-}" ]; then
		__oi_bash
	elif [ -n "${ZSH_VERSION:-}" ]; then
		__oi_zsh
	else
		__oi_sh
	fi
} >|"$__oi_folder/answer-$__oi_nonce" 2>/dev/null
__oi_kind=variables
[ -z "$__oi_wanted" ] || __oi_kind=variable
__oi_print '{"event":"%s","nonce":"%s","file":"answer-%s"}\n' "$__oi_kind" "$__oi_nonce" "$__oi_nonce" >|"$__oi_folder/events"
