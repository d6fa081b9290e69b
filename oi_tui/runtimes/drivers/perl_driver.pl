# The driver inside Perl: takes cells from the request pipe and tells of their fate on the events' pipe.
use 5.010;

package OiTui::Cell;

# Above all else, so that no lexical variable of the driver is in sight of a cell.
sub evaluate {
	eval "package main;\n#line 1 \"cell $_[1]\"\n$_[0]\n;1" or die $@;
}

package OiTui;
use strict;
use warnings;
use Fcntl ();

our ($running, $nonce, $cell, $owner, $since) = (0, '', 0, number(), 0);
our @before;
# Where output is seen, and where it went instead when that was last reported.
our ($stdout, $place) = (\*main::STDOUT, '');

BEGIN {
	*CORE::GLOBAL::exit = sub { die bless { code => @_ ? $_[0] : 0 }, 'OiTui::Exit' };
	# A cell is the main program: `main() unless caller`. In this package, `caller` leaves the arguments of a call.
	*CORE::GLOBAL::caller = sub (;$) {
		package DB;
		my @frame = CORE::caller(1 + (@_ ? $_[0] : 0));
		return if !@frame || $frame[0] =~ /^OiTui\b/;
		return $frame[0] unless wantarray;
		return @_ ? @frame : @frame[0 .. 2];
	};
}

my $folder = shift @ARGV;
my ($requests, $events, $terminal);
$0 = 'cell';
$| = 1;
prepare();

# The number of this process; a program may write another into `$$`.
sub number { readlink('/proc/self') || $$ }

sub interrupt { die "Interrupted\n" if $running }
sub stop { die bless {}, 'OiTui::Stopped' if $running }

sub spell {
	my ($text) = @_;
	return 'null' unless defined $text;
	utf8::encode($text) if utf8::is_utf8($text);
	$text =~ s/([\\"])/\\$1/g;
	$text =~ s/([\x00-\x1f\x7f])/sprintf '\\u%04x', ord $1/ge;
	return "\"$text\"";
}

# What a cell held back is out before its end is reported; also what an interrupt kept from being written, which only
# switching this on writes.
sub let_out {
	select((select($_), $| = 0, $| = 1)[0]) for *STDERR, *STDOUT;
}

# The terminal and the channel, opened anew where a program has closed them.
sub mend {
	no warnings qw(closed unopened io);
	open(STDIN, '<', '/dev/tty') unless -e STDIN;
	open(STDOUT, '>', '/dev/tty') unless -e STDOUT;
	open(STDERR, '>', '/dev/tty') unless -e STDERR;
	let_out();
	for my $way ([\$requests, '<', "$folder/requests"], [\$events, '>', "$folder/events"], [\$terminal, '>', '/dev/tty']) {
		my ($handle, $how, $path) = @$way;
		next if $$handle && -e $$handle;
		undef $$handle;
		open($$handle, $how, $path) or die "$path: $!";
	}
}

# Tell what went wrong, whatever the program has printed between words and behind lines.
sub complain {
	local ($,, $\);
	print STDERR @_;
}

# Where `print` writes to, if that is a file or nothing at all, and the way back; nothing for all else.
sub elsewhere {
	no strict 'refs';
	my $handle = \*{+select};
	my $is_own = *{$handle}{IO} == *{$stdout}{IO};
	my $way_back = $is_own ? "open(STDOUT, '>', '/dev/tty')" : 'select(STDOUT)';
	return if $is_own && -t $handle or tied *$handle;
	my $number = fileno $handle;
	return unless defined $number;
	return ('memory', $way_back) if $number < 0;
	my $seen = readlink("/proc/self/fd/$number") || 'a file';
	return -f $handle || $seen eq '/dev/null' ? ($seen, $way_back) : ();
}

# Says so when a cell has sent the output elsewhere for good, since later cells would be silent.
sub tell_where_output_goes {
	my ($now, $way_back) = eval { elsewhere() };
	$since = $cell if defined $now && $now ne $place;
	$place = defined $now ? $now : '';
	syswrite $terminal, "(Perl's output goes to $place since cell $since; $way_back brings it back.)\n" if $place ne '';
}

sub tell_end {
	my ($state, $reason) = @_;
	mend();
	tell_where_output_goes();
	syswrite $events, sprintf(qq({"event":"finished","nonce":"%s","state":"%s","reason":%s,"mark":"%s.end"}\n),
		$nonce, $state, spell($reason), $nonce);
	syswrite $terminal, "\e]6973;$nonce.end\a";
}

# Answer a question about what the program remembers.
sub tell_memory {
	my ($word, $name) = @_;
	local ($@, $_, $,, $\, $/, $;);
	my $told = eval { OiTui::Memory->can($word)->($name) };
	mend();
	syswrite $events, sprintf(qq({"event":"%s","nonce":"%s",%s}\n), $word, $nonce, defined $told ? $told : '"none":true');
}

# What a cell declares at its top level is there in the next one. Texts that only look like it stay as they are.
sub kept {
	my ($until, @lines) = (undef);
	for my $line (split /^/, $_[0]) {
		if (defined $until) {
			undef $until if $line =~ $until;
		} else {
			$line =~ s/^(?:my|state)\b(?=\s*[\$\@%(])/our/;
			1 while $line =~ s/^(our\b[^{}'"#]*;\s*)(?:my|state)\b(?=\s*[\$\@%(])/$1our/;
			my ($word) = $line =~ /<<~?\s*['"]?([A-Za-z_]\w*)/;
			$until = qr/^\s*\Q$word\E\s*$/ if defined $word and $_[0] =~ /^\s*\Q$word\E\s*$/m;
			$until = qr/^=cut\b/ if $line =~ /^=[a-z]/;
		}
		push @lines, $line;
	}
	return join '', @lines;
}

# A run begins with what every run may count on, whatever the last one did to it.
sub prepare {
	$SIG{INT} = \&interrupt;
	$SIG{USR2} = \&stop;
	@before = @SIG{'QUIT', 'HUP'};
	mend();
	# Opened anew, it has forgotten what was typed too much.
	open(STDIN, '<', '/dev/tty') if -t STDIN;
}

# A run that was called away leaves what it was called away from: a wait for a child, in which Perl ignores signals,
# and an alarm that nobody is there to hear any more.
sub recover {
	require POSIX;
	POSIX::sigprocmask(POSIX::SIG_SETMASK(), POSIX::SigSet->new);
	($SIG{INT}, $SIG{QUIT}, $SIG{HUP}) = (\&interrupt, map { $_ || 'DEFAULT' } @before);
	alarm 0;
}

sub run {
	my ($path) = @_;
	open(my $file, '<', $path) or return ('failed', "$path: $!");
	my $code = do { local $/; <$file> };
	close $file;
	$code = '' unless defined $code;
	($cell) = $path =~ /(\d+)\z/;
	# As in a script, this is the name of the file: `main() if __FILE__ eq $0`.
	$0 = "cell $cell";
	my $data = $code =~ s/^__(?:END|DATA)__[ \t]*(?:\n(.*))?\z//ms ? $1 : undef;
	no warnings 'once';
	open(main::DATA, '<', \$data) if defined $data;
	my ($ended, $times, $error) = (0, 0);
	# What leaves a loop that is not there leaves this one.
	for my $once (1) {
		last if $times++;
		$error = "Can't leave or repeat a loop outside of one at cell $cell.\n";
		$ended = eval { $running = 1; OiTui::Cell::evaluate(kept($code), $cell); $running = 0; 1 };
		$error = $@;
	}
	$running = 0;
	alarm 0 unless $SIG{ALRM};
	return ('finished', undef) if $ended;
	my $kind = ref $error;
	if ($kind eq 'OiTui::Exit') {
		my $status = ($error->{code} || 0) & 255;
		return $status ? ('failed', "exit status $status", $status) : ('finished', undef);
	}
	if ($kind eq 'OiTui::Stopped' or !$kind and $error eq "Interrupted\n") {
		recover();
		complain("Interrupted\n");
		return ('interrupted', undef);
	}
	# An object may refuse to be a text.
	my $text = eval { "$error" };
	$text = "Died with an object of the class $kind" unless defined $text;
	complain($text, $text =~ /\n\z/ ? '' : "\n");
	# Of characters, so that none is cut.
	my ($first) = OiTui::Memory::characters($text) =~ /^([^\n]{0,300})/;
	return ('failed', $first, 255);
}

require(__FILE__ =~ s/driver(?=\.pl\z)/memory/r);
syswrite $events, sprintf(qq({"event":"ready","stop":%d}\n), 12);
while (1) {
	# Whatever lines end with for the program.
	my $line = do { local $/ = "\n"; <$requests> };
	last unless defined $line;
	my ($word, $path);
	($word, $nonce, $path) = split ' ', $line =~ s/\n\z//r, 3;
	if ($word eq 'variables' or $word eq 'variable' or $word eq 'completions') {
		tell_memory($word, $path);
		next;
	}
	next unless $word eq 'run';
	prepare();
	my ($state, $reason, $status) = run($path);
	$running = 0;
	if (number() != $owner) {
		let_out();
		require POSIX;
		POSIX::_exit($state eq 'finished' ? 0 : $status || 1);
	}
	tell_end($state, $reason);
}
