# The driver of the shells: read by bash, zsh or sh before its first cell. The shell takes its commands from the
# request pipe; for a cell these are `__oi_begin NONCE CELL`, `. CELL` and `__oi_end NONCE`. What they tell goes to the
# pipe for events; the mark of a cell's end goes to the terminal, wherever standard output points by then.

# The names that are there before the person's code makes any; of a plain sh, /proc tells them when they are asked
# for, where there is one.
if [ -n "${BASH_VERSION:-}" ]; then
	__oi_known=$(compgen -v && compgen -A function)
elif [ -n "${ZSH_VERSION:-}" ]; then
	__oi_known=${(F)${(@k)parameters}}
	__oi_known=$__oi_known$'\n'${(F)${(@k)functions}}$'\nzshexit\nwait\n'${(F)${(@k)aliases}}
elif [ ! -r /proc/$$/environ ]; then
	__oi_known=$(set | command -p sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p')
fi
if [ -f "$OI_TUI_FOLDER/saved" ]; then
	. "$OI_TUI_FOLDER/saved" >/dev/null 2>&1
fi
__oi_folder=$OI_TUI_FOLDER
__oi_nonce=
__oi_reported=
__oi_status=0
__oi_left=
# What is done first after each cell, by the shell itself and not in a function.
__oi_hush=:
unset OI_TUI_FOLDER PS1 PS2 HISTFILE MAILCHECK
PS1=
PS2=

# Built in, so that it is there without PATH; a plain sh has no word for that.
if [ -n "${BASH_VERSION:-}${ZSH_VERSION:-}" ]; then
	__oi_printf() { builtin printf "$@"; }
else
	__oi_printf() { command printf "$@"; }
fi

__oi_begin() {
	__oi_nonce=$1
	__oi_reopen
	case $- in
	*e*) return 0 ;;
	esac
	return "$__oi_status"
}

# A cell that closed its output did so for itself; where it sent it elsewhere, there it stays.
__oi_reopen() {
	{ true 3>&1; } || exec >/dev/tty
}

# The person's prompt, and what goes with one, is for a terminal where commands are typed; here it would stand
# among the output.
__oi_quiet() {
	PS1= PS2=
	unset PROMPT_COMMAND 2>/dev/null
	if [ -n "${ZSH_VERSION:-}" ]; then
		unset -f precmd preexec periodic || :
		unset precmd_functions preexec_functions periodic_functions
	fi
	return "$__oi_status"
}

__oi_end() {
	# The end may be asked for more than once; it is reported once.
	[ "$2" != "$__oi_reported" ] || return 0
	__oi_status=$1
	set +v
	PS1= PS2=
	__oi_nonce=$2
	# A cell that closed what is not its own may have left us at the terminal, where no request comes.
	[ -p /dev/fd/0 ] || exec <"$__oi_folder/requests"
	__oi_tell "$__oi_status" 0
}

__oi_tell() {
	__oi_away=0
	[ -t 1 ] || __oi_away=1
	__oi_printf '{"event":"finished","nonce":"%s","mark":"%s.end","status":%d,"leaving":%d,"away":%d}\n' \
		"$__oi_nonce" "$__oi_nonce" "$1" "$2" "$__oi_away" >|"$__oi_folder/events"
	__oi_printf '\033]6973;%s.end\007' "$__oi_nonce" >|/dev/tty
	__oi_reported=$__oi_nonce
}

if [ -n "${BASH_VERSION:-}" ]; then
	set +H +o history
	history -d -1 2>/dev/null
	BASH_ARGV0=bash

	# What can be kept when the shell leaves: the next one reads it back.
	__oi_leave() {
		set +eux
		PS1= PS2=
		unset PROMPT_COMMAND
		{
			cd_to=$(__oi_printf '%q' "$PWD")
			declare -p
			declare -f
			alias -p
			shopt -p
			__oi_printf 'cd -- %s\n' "$cd_to"
		} >|"$__oi_folder/state" 2>/dev/null
		__oi_tell "$__oi_status" 1
	}
	__oi_exit='{ __oi_status=$?; eval "$__oi_hush"; __oi_leave; } >/dev/null 2>&1'
	trap "$__oi_exit" EXIT

	# Traps and options that watch commands are the cells': between two of them they are put aside. In a function
	# bash would bring them back.
	__oi_live= __oi_traps= __oi_failing= __oi_flags= __oi_extended=
	__oi_hush='builtin trap -p DEBUG RETURN >|"$__oi_folder/traps"; builtin trap -p ERR >|"$__oi_folder/failing"; builtin trap -p EXIT >|"$__oi_folder/exit"; builtin trap - DEBUG ERR RETURN; __oi_put_aside'
	__oi_put_aside() {
		# Where the cell had no command, all is still put aside.
		if [ -n "$__oi_live" ]; then
			__oi_live=
			__oi_traps=$(<"$__oi_folder/traps")
			__oi_failing=$(<"$__oi_folder/failing")
			__oi_flags=${-//[!TEuvx]/}
			__oi_extended=
			builtin shopt -q extdebug && __oi_extended=yes && builtin shopt -u extdebug
		fi
		# A cell that removed its own trap has removed ours.
		[ -s "$__oi_folder/exit" ] || builtin trap "$__oi_exit" EXIT
		builtin set +TEuvx
	}
	# A trap for commands of our own brings them back: at the first command of the cell, but what waits for failures
	# before, since bash looks for that first.
	__oi_return='builtin trap - DEBUG
		builtin set +T
		__oi_live=yes
		builtin eval "$__oi_traps"
		[ -z "$__oi_extended" ] || builtin shopt -s extdebug
		__oi_found=$(builtin trap -p DEBUG)
		[ -z "$__oi_found" ] || builtin eval "__oi_words=(${__oi_found#trap})"'
	# In one line, since the cell's trap is told the line of ours.
	__oi_restore='case $BASH_COMMAND in *__oi_* | "builtin trap - DEBUG ERR RETURN") ;; *"${__oi_folder##*/}/cell-"*) builtin eval "$__oi_failing" ;; *) builtin eval "$__oi_return"; [ -z "$__oi_found" ] || builtin eval "${__oi_words[1]}"; { [ -z "$__oi_flags" ] || builtin set "-$__oi_flags"; } 2>/dev/null ;; esac'
	__oi_begin() {
		__oi_nonce=$1
		__oi_reopen
		# A cell that asks whether it is the program itself, and not sourced by another, is told so.
		BASH_ARGV0=bash
		IFS= builtin read -r -d '' __oi_words <"$2" || :
		case $__oi_words in *BASH_SOURCE*) BASH_ARGV0=$2 ;; esac
		__oi_words=
		case $- in *e*) __oi_status=0 ;; esac
		case $__oi_traps$__oi_failing$__oi_flags$__oi_extended in
		*[![:space:]]*)
			builtin set -T
			builtin trap "$__oi_restore" DEBUG
			;;
		*) __oi_live=yes ;;
		esac
		return "$__oi_status"
	}
elif [ -n "${ZSH_VERSION:-}" ]; then
	setopt hist_ignore_space interactive_comments no_bang_hist no_prompt_cr no_prompt_sp no_beep
	# A trap that watches commands is the cells': between two of them it is put aside, and it sees no command of ours.
	__oi_live= __oi_kind= __oi_watcher=
	__oi_watch='case $ZSH_DEBUG_CMD in (*__oi_* | "builtin trap - DEBUG"* | *"${__oi_folder##*/}/cell-"*) ;; (*) '
	__oi_hush='[ -z "$__oi_live" ] || __oi_watcher=${functions[TRAPDEBUG]-}; [ -z "$__oi_live" ] || builtin trap >|"$__oi_folder/traps"; builtin trap - DEBUG; __oi_put_aside'
	__oi_put_aside() {
		[ -n "$__oi_live" ] || return 0
		__oi_live=
		__oi_kind=function
		if [ -z "$__oi_watcher" ]; then
			__oi_kind=text
			# Another shell would not read on at such a name.
			eval 'trap() { [ "$argv[-1]" != DEBUG ] || __oi_watcher=$argv[-2]; }'
			eval "${(F)${(M)${(f)"$(<"$__oi_folder/traps")"}:#trap*}}"
			unfunction trap
		fi
		case $__oi_watcher in
		'' | *'(*__oi_*'*) ;;
		*) __oi_watcher="$__oi_watch $__oi_watcher
;; esac" ;;
		esac
	}
	__oi_begin() {
		__oi_nonce=$1
		__oi_reopen
		__oi_live=yes
		case $- in *e*) __oi_status=0 ;; esac
		case $__oi_kind$__oi_watcher in
		text | function) ;;
		text*) builtin trap -- "$__oi_watcher" DEBUG ;;
		function*) functions[TRAPDEBUG]=$__oi_watcher ;;
		esac
		return "$__oi_status"
	}
	# Without a trap no interrupt ends it.
	wait() {
		builtin setopt local_options local_traps
		TRAPINT() { return $((128 + $1)); }
		builtin wait "$@"
	}
	# It runs as the hook of every exit, those of subshells included, and as a trap too, since `set -e` knows only that.
	__oi_leave() {
		__oi_status=$?
		[ "$ZSH_SUBSHELL$__oi_left" = 0 ] || return 0
		__oi_left=yes
		set +eux
		{
			typeset -p
			typeset -f
			alias -L
			__oi_printf 'cd -- %s\n' "${(q)PWD}"
		} >|"$__oi_folder/state" 2>/dev/null
		__oi_tell "$__oi_status" 1
	}
	zshexit() { __oi_leave; }
	trap '{ __oi_leave; } 2>/dev/null' EXIT
else
	# It cannot list its functions, so what the cells seem to define is noted; whether they do is asked later.
	__oi_defined=
	# This shell forgets the requests that it has read when a command fails badly; the end is asked for again.
	__oi_begin() {
		__oi_nonce=$1
		__oi_reopen
		__oi_printf '{"event":"begun"}\n' >|"$__oi_folder/events"
		__oi_defined="$__oi_defined $(command -p sed -n \
			's/^[[:space:]]*\([A-Za-z_][A-Za-z0-9_]*\)[[:space:]]*()[[:space:]]*[({]*.*/\1/p' "$__oi_folder"/cell-* 2>/dev/null)"
		case $- in
		*e*) return 0 ;;
		esac
		return "$__oi_status"
	}
	__oi_leave() {
		__oi_status=$?
		set +eux
		{
			set
			alias
			# What `set` wrote above holds it with the right quotes.
			__oi_printf 'cd -- "$PWD"\n'
		} >|"$__oi_folder/state" 2>/dev/null
		__oi_tell "$__oi_status" 1
	}
	trap '{ __oi_leave; } 2>/dev/null' EXIT
fi

__oi_printf '{"event":"ready"}\n' >|"$__oi_folder/events"
