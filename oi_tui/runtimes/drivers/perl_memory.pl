# What the program remembers, and completions for its code. No code of the program runs for it: tied variables and
# overloaded operators are not asked.

package OiTui::Memory;
use strict;
use warnings;
no warnings qw(once redefine);
use Scalar::Util qw(blessed looks_like_number refaddr reftype);
require mro;

my ($most, $offered, $longest, $preview_size) = (2000, 100, 60, 20_000);
my @keywords = qw(
	abs binmode bless chomp chop close cmp defined delete die each else elsif eval exists exit foreach for glob grep if int
	join keys last lc lcfirst length local localtime map my next open our package pop print printf push rand redo ref require
	return reverse say scalar shift sort splice split sprintf sqrt sub substr time uc ucfirst undef unless unlink unshift until
	use values wantarray warn while
);
# What is here before the first cell is none of the program's.
my %before = map { $_ => 1 } keys %main::;

# Texts of the program may be bytes or characters.
sub characters {
	my ($text) = @_;
	utf8::decode($text) unless utf8::is_utf8($text);
	return $text;
}

sub spell { OiTui::spell(do { my $text = characters($_[0]); utf8::upgrade($text); $text }) }

sub count { my ($number, $word) = @_; "$number $word" . ($number == 1 ? '' : 's') }

sub quoted {
	my ($text) = @_;
	$text =~ s/([\\'])/\\$1/g;
	return "'$text'";
}

# What kind of thing a reference leads to, in a few words.
sub content {
	my ($value) = @_;
	my $kind = reftype $value;
	return tied(@$value) ? 'tied array' : 'array of ' . @$value if $kind eq 'ARRAY';
	return tied(%$value) ? 'tied hash' : 'hash of ' . count(scalar keys %$value, 'key') if $kind eq 'HASH';
	return lc $kind;
}

# [type, summary] of a value.
sub describe {
	my ($value) = @_;
	return ('undef', 'undef') unless defined $value;
	if (my $kind = reftype $value) {
		# Perl lets an overloaded hash or array answer in place of the real one.
		my $class = blessed $value;
		return ($class, "$class object") if defined $class;
		return (lc $kind, content($value));
	}
	return ('number', "$value") if looks_like_number($value);
	my $text = characters($value);
	return ('string', length $text <= $longest ? quoted($text) : 'string of ' . length($text) . ' characters');
}

# The parts of a symbol that hold something: a list of [sigil, reference].
sub parts {
	my ($entry) = @_;
	# What is no glob stands for a subroutine alone.
	return ['&', undef] if ref \$entry ne 'GLOB';
	my @found;
	my $scalar = *{$entry}{SCALAR};
	push @found, ['$', $scalar] if tied $$scalar || defined $$scalar;
	push @found, ['@', *{$entry}{ARRAY}] if *{$entry}{ARRAY};
	push @found, ['%', *{$entry}{HASH}] if *{$entry}{HASH};
	push @found, ['&', *{$entry}{CODE}] if *{$entry}{CODE};
	return @found;
}

sub about {
	my ($sigil, $reference) = @_;
	return ('sub', 'sub') if $sigil eq '&';
	return ('tied', 'tied scalar') if $sigil eq '$' && tied $$reference;
	return describe($$reference) if $sigil eq '$';
	return ($sigil eq '@' ? 'array' : 'hash', content($reference));
}

# [name with its sigil, reference] of all that the program has.
sub all {
	my @found;
	for my $name (sort grep { !$before{$_} && /^[^\W\d]\w*\z/ } keys %main::) {
		push @found, map { [$_->[0] eq '&' ? $name : "$_->[0]$name", @$_] } parts($main::{$name});
	}
	return @found;
}

# Whether a subroutine was written in a cell, and not imported.
sub is_own {
	my ($sigil, $reference) = @_;
	return 1 unless $sigil eq '&' && $reference;
	require B;
	my $symbol = B::svref_2object($reference)->GV;
	return $symbol->isa('B::GV') && $symbol->STASH->NAME eq 'main';
}

sub variables {
	my @all = grep { is_own(@{$_}[1, 2]) } all();
	my @listed = map {
		my ($name, @part) = @$_;
		sprintf '{"name":%s,"type":%s,"summary":%s,"size":null}', map { spell($_) } $name, about(@part);
	} @all > $most ? @all[-$most .. -1] : @all;
	return sprintf '"total":%d,"variables":[%s]', scalar @all, join ',', @listed;
}

sub preview {
	my ($value, $depth) = @_;
	my $kind = defined blessed $value ? '' : reftype $value || '';
	my @lines;
	if ($depth < 4 && $kind eq 'ARRAY' && !tied @$value) {
		@lines = map { preview($_, $depth + 1) } @$value > 200 ? @{$value}[0 .. 199] : @$value;
	} elsif ($depth < 4 && $kind eq 'HASH' && !tied %$value) {
		my @keys = sort keys %$value;
		splice @keys, 200;
		@lines = map { characters($_) . ' => ' . preview($value->{$_}, $depth + 1) } @keys;
	} elsif (!$kind && defined $value && !ref $value) {
		return looks_like_number($value) ? "$value" : quoted(characters($value));
	}
	return (describe($value))[1] unless @lines;
	my ($open, $close) = $kind eq 'ARRAY' ? ('[', ']') : ('{', '}');
	my $indent = '  ' x $depth;
	return "$open\n" . join(",\n", map { "$indent  $_" } @lines) . "\n$indent$close";
}

sub variable {
	my ($wanted) = @_;
	for my $found (all()) {
		my ($name, $sigil, $reference) = @$found;
		next if $name ne $wanted;
		my $is_plain = $sigil eq '$' && !tied $$reference;
		my $shown = $sigil eq '&' || ($sigil eq '$' && !$is_plain) ? (about($sigil, $reference))[1] : preview($is_plain ? $$reference : $reference, 0);
		return sprintf '"description":%s,"preview":%s', spell((about($sigil, $reference))[1]), spell(substr $shown, 0, $preview_size);
	}
	return '"none":true';
}

# The value that `$a`, `$a->{b}` or `$a[0]{c}` stands for, as a reference; nothing where that is not known without
# running code.
sub resolve {
	my ($name, $steps) = @_;
	return unless exists $main::{$name} && ref \$main::{$name} eq 'GLOB';
	my %part = map { $_->[0] => $_->[1] } parts($main::{$name});
	my $value;
	if ($steps =~ /^[\[{]/) {
		$value = $part{$steps =~ /^\[/ ? '@' : '%'};
	} else {
		return if !$part{'$'} || tied ${$part{'$'}};
		$value = ${$part{'$'}};
	}
	while ($steps =~ s/^(?:->)?(?:\[(\d+)\]|\{\s*(['"]?)(\w+)\2\s*\})//) {
		my ($at, $key) = ($1, $3);
		my $kind = ref $value ? reftype $value : '';
		return if $kind ne (defined $at ? 'ARRAY' : 'HASH') || ($kind eq 'ARRAY' ? tied @$value : tied %$value);
		return if defined $key && !exists $value->{$key};
		$value = defined $at ? $value->[$at] : $value->{$key};
	}
	return $steps eq '' ? $value : undef;
}

# The names of the methods of a class and of those that it is made from.
sub methods {
	my ($class) = @_;
	my %found;
	for my $each (@{mro::get_linear_isa($class)}) {
		no strict 'refs';
		my $symbols = \%{"${each}::"};
		for my $name (grep { /^[^\W\d]\w*\z/ } keys %$symbols) {
			$found{$name} ||= "method of $each" if grep { $_->[0] eq '&' } parts($symbols->{$name});
		}
	}
	return map { [$_, $found{$_}] } sort keys %found;
}

sub read_question {
	my ($words) = @_;
	my $text = characters(pack 'H*', $words);
	($text) = $text =~ /^\{"before": "(.*)"\}\z/s;
	my %escapes = (n => "\n", t => "\t", r => "\r", b => "\b", f => "\f");
	$text =~ s{\\(?:u([0-9a-fA-F]{4})|(.))}{defined $1 ? chr hex $1 : $escapes{$2} // $2}ge;
	return $text;
}

my $step = qr/(?:->)?(?:\[\d+\]|\{\s*(?:'\w+'|"\w+"|\w+)\s*\})/;

# [what is typed, the offers] for a line up to the caret.
sub offers {
	my ($line) = @_;
	if ($line =~ /\$(\w+)((?:$step)*(?:->)?)\{\s*['"]?(\w*)\z/) {
		my ($name, $steps, $typed) = ($1, $2, $3);
		my $is_direct = $steps eq '';
		$steps =~ s/->\z//;
		my $value = $is_direct ? hash_named($name) : resolve($name, $steps);
		return ($typed) unless ref $value && reftype $value eq 'HASH' && !tied %$value;
		return ($typed, map { [characters($_), (describe($value->{$_}))[1]] } sort grep { /^\w+\z/ } keys %$value);
	}
	if ($line =~ /\$(\w+)((?:$step)*)->(\w*)\z/) {
		my $class = blessed resolve($1, $2);
		return ($3, defined $class ? methods($class) : ());
	}
	return ($2, methods($1)) if $line =~ /([A-Za-z_]\w*(?:::\w+)*)->(\w*)\z/;
	if ($line =~ /([\$\@%&])(\w*)\z/) {
		my ($sigil, $typed) = ($1, $2);
		# Elements of arrays and hashes have the sigil of scalars.
		my @wanted = grep { $sigil eq '$' ? $_->[1] ne '&' : $_->[1] eq $sigil } all();
		return ($typed, map { [$_->[0] =~ s/^\W//r, (about(@{$_}[1, 2]))[1]] } @wanted);
	}
	my ($before, $typed) = $line =~ /^(.*?)((?<![\w:\$\@%&>])[A-Za-z_][\w:]*)\z/s or return ('');
	# Of a text or a comment nothing is known.
	my $quotes = () = $before =~ /(?<!\\)["']/g;
	return ($typed) if $quotes % 2 || $before =~ /(?:^|\s)#/;
	my @subs = map { [$_->[0], 'sub'] } grep { $_->[1] eq '&' } all();
	return ($typed, @subs, map { [$_, ''] } @keywords);
}

sub hash_named {
	my ($name) = @_;
	return unless exists $main::{$name} && ref \$main::{$name} eq 'GLOB';
	return *{$main::{$name}}{HASH};
}

sub completions {
	my ($typed, @found) = offers(read_question($_[0]) =~ /([^\n]*)\z/);
	my (%seen, @offers);
	for my $offer (@found) {
		my ($name, $facts) = @$offer;
		next if $name eq $typed || index($name, $typed) != 0 || $seen{$name}++;
		push @offers, sprintf '[%s,%s]', spell($name), spell($facts);
		last if @offers == $offered;
	}
	return sprintf '"typed":%d,"offers":[%s],"note":""', length $typed, join ',', @offers;
}

1;
