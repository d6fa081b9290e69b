<?php
// Completes PHP, from what the last cell made and from PHP itself. It is given the file of that memory and the question.

namespace OiTui;

require __DIR__ . '/php_memory.php';

final class Completer
{
    private const MOST = 100;
    private const KEYWORDS = 'abstract array as break case catch class clone const continue declare default do echo else elseif empty '
        . 'enum extends false final finally fn for foreach function global if implements include include_once instanceof interface isset '
        . 'list match namespace new null print private protected public readonly require require_once return self static switch throw '
        . 'trait true try unset use var while yield';
    private const SUPERGLOBALS = ['_GET', '_POST', '_COOKIE', '_FILES', '_SERVER', '_ENV', '_REQUEST', 'GLOBALS'];
    private const CHAIN = '(\$\w+(?:(?:\?->|->)\w+|\[(?:\d+|\'[^\'\\\\]*\'|"[^"\\\\]*")\])*)';

    private array $memory;

    public function __construct(array $memory)
    {
        $this->memory = $memory + ['shapes' => [], 'functions' => [], 'classes' => [], 'variables' => []];
    }

    public function answer(string $before): array
    {
        $kind = self::kind($before);
        $line = substr((string) strrchr("\n$before", "\n"), 1);
        if ($kind === 'nothing') {
            return ['typed' => 0, 'offers' => [], 'note' => ''];
        }
        [$typed, $found] = $kind === 'text' ? $this->inText($line) : $this->inCode($line);
        $offers = [];
        foreach ($found as $name => $facts) {
            $name = (string) $name;
            if ($name !== $typed && strncasecmp($name, $typed, strlen($typed)) === 0 && count($offers) < self::MOST) {
                $offers[] = [$name, $facts];
            }
        }
        return ['typed' => characters($typed), 'offers' => $offers, 'note' => $kind === 'code' ? $this->called($line) : ''];
    }

    /** Whether the caret is in code, in a text, or where nothing is completed. */
    private static function kind(string $before): string
    {
        if (!function_exists('token_get_all')) {
            return 'code';
        }
        $code = strpos($before, '<?') === false ? "<?php $before" : $before;
        $open = false;
        $last = null;
        foreach (token_get_all($code) as $last) {
            $open = $last === '"' ? !$open : $open;
        }
        $id = is_array($last) ? $last[0] : null;
        if ($id === T_INLINE_HTML || $id === T_DOC_COMMENT || ($id === T_COMMENT && substr($code, -1) !== "\n")) {
            return 'nothing';
        }
        if (preg_match('/\{?\$\w*(?:->\w*|\[\w*)?$/', $code) && $open) {
            return 'code';
        }
        return $id === T_ENCAPSED_AND_WHITESPACE || $open || $last === '"' ? 'text' : 'code';
    }

    private function inText(string $line): array
    {
        if (preg_match('/' . self::CHAIN . '\[[\'"]([^\'"]*)$/', $line, $part)) {
            return [$part[2], $this->items($this->shape($part[1]))];
        }
        $typed = preg_match('/[\'"]([^\'"]*)$/', $line, $part) ? $part[1] : '';
        $folder = preg_match('~^.*/~', $typed, $part) ? $part[0] : '';
        $found = [];
        foreach (@scandir($folder === '' ? '.' : $folder) ?: [] as $name) {
            if ($name[0] !== '.' || ($typed !== $folder && $name !== '.' && $name !== '..')) {
                $found[$folder . $name . (is_dir($folder . $name) ? '/' : '')] = '';
            }
        }
        return [$typed, $found];
    }

    private function inCode(string $line): array
    {
        if (preg_match('/' . self::CHAIN . '(?:\?->|->)(\w*)$/', $line, $part)) {
            $shape = $this->shape($part[1]);
            return [$part[2], $this->items($shape) + ($this->class($shape['class'] ?? '')['methods'] ?? [])];
        }
        if (preg_match('/([\w\\\\]+)::(\$?\w*)$/', $line, $part)) {
            $class = $this->class($part[1]);
            return [$part[2], ($class['static'] ?? []) + array_fill_keys($class['constants'] ?? [], '')];
        }
        if (preg_match('/(?:->|::)\$?\w*$/', $line)) {
            return ['', []];
        }
        if (preg_match('/\$(\w*)$/', $line, $part)) {
            $own = array_map(static fn ($shape) => $shape['facts'], $this->memory['shapes']);
            return [$part[1], array_reverse($own, true) + array_fill_keys(self::SUPERGLOBALS, 'array')];
        }
        $typed = preg_match('/[\w\\\\]+$/', $line, $part) ? $part[0] : '';
        return [$typed, $typed === '' || is_numeric($typed[0]) ? [] : $this->names(preg_match('/\bnew\s+[\w\\\\]+$/', $line) === 1)];
    }

    /** Names of functions, classes and constants, those of the cell first. */
    private function names(bool $onlyClasses): array
    {
        $classes = array_fill_keys([...array_keys($this->memory['classes']), ...get_declared_classes()], 'class');
        unset($classes[self::class], $classes[Memory::class]);
        if ($onlyClasses) {
            return $classes;
        }
        $constants = [];
        foreach ($this->memory['variables'] as $variable) {
            if ($variable['name'][0] !== '$' && !in_array($variable['type'], ['function', 'class'], true)) {
                $constants[$variable['name']] = $variable['summary'];
            }
        }
        $internal = array_fill_keys(get_defined_functions()['internal'], 'function');
        return $this->memory['functions'] + $constants + array_fill_keys(explode(' ', self::KEYWORDS), '') + $internal + $classes
            + array_fill_keys(array_keys(get_defined_constants()), 'constant');
    }

    private function items(array $shape): array
    {
        return array_map(static fn ($item) => $item['facts'], $shape['items'] ?? []);
    }

    /** What is known of the value that `$a->b['c']` stands for; nothing where that is not known. */
    private function shape(string $chain): array
    {
        preg_match_all('/\w+|(?<=[\'"])[^\'"]*(?=[\'"]\])/', $chain, $steps);
        $shape = ['items' => $this->memory['shapes']];
        foreach ($steps[0] as $step) {
            $shape = $shape['items'][$step] ?? [];
        }
        return $shape;
    }

    private function class(string $name): array
    {
        $name = ltrim($name, '\\');
        if (isset($this->memory['classes'][$name])) {
            return $this->memory['classes'][$name];
        }
        return class_exists($name, false) && strpos($name, 'OiTui\\') !== 0 ? Memory::members(new \ReflectionClass($name)) : [];
    }

    /** The signature of the function whose arguments are being written. */
    private function called(string $line): string
    {
        if (!preg_match('/(?:' . self::CHAIN . '(?:\?->|->)|([\w\\\\]+)::|(\bnew\s+))?([\w\\\\]+)\s*\((?:[^()]|\([^()]*\))*$/', $line, $part)) {
            return '';
        }
        [, $chain, $class, $new, $name] = $part;
        if ($chain !== '') {
            $found = $this->class($this->shape($chain)['class'] ?? '')['methods'][$name] ?? '';
        } elseif ($class !== '') {
            $found = $this->class($class)['static'][$name] ?? '';
        } elseif ($new !== '') {
            $found = $this->class($name)['constructor'] ?? '';
        } else {
            $found = $this->memory['functions'][$name] ?? (function_exists($name) ? Memory::signature(new \ReflectionFunction($name)) : '');
        }
        return $found === '' ? '' : $name . $found;
    }
}

/** The number of characters of a text in UTF-8, without an extension of PHP. */
function characters(string $text): int
{
    return preg_match_all('/./su', $text);
}

$memory = is_file($argv[1]) ? json_decode((string) file_get_contents($argv[1]), true) : [];
$question = json_decode((string) hex2bin($argv[2]), true);
echo json_encode((new Completer($memory ?: []))->answer($question['before'] ?? ''), JSON_INVALID_UTF8_SUBSTITUTE);
