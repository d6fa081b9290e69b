<?php
// Writes what a cell of PHP made, when it is over: variables, functions, classes and constants, with a few words on each.
// No code of the cell runs for it: objects are read as arrays, and nothing is turned into a text by itself.

namespace OiTui;

final class Memory
{
    private const MOST = 2000;
    private const LONGEST = 60;
    private const DEEPEST = 3;
    private const PREVIEW = 4000;
    private const NOT_OURS = ['GLOBALS', '_GET', '_POST', '_COOKIE', '_FILES', '_SERVER', '_ENV', '_REQUEST', '_SESSION', 'argv', 'argc'];

    /** How many values may still be described for completions, and how many bytes of them be kept. */
    private int $nodes = 3000;
    private int $room = 500000;

    /** Write the memory of the cell of this name into a file, once all else that waits for its end is done. */
    public static function writeAtEnd(string $path, string $cell): void
    {
        $owner = getmypid();
        $write = static function () use ($path, $cell, $owner): void {
            if (getmypid() === $owner) {
                $options = JSON_INVALID_UTF8_SUBSTITUTE | JSON_PARTIAL_OUTPUT_ON_ERROR;
                @file_put_contents($path, json_encode((new self())->describeAll($cell), $options));
            }
        };
        register_shutdown_function(static fn () => register_shutdown_function($write));
    }

    private function describeAll(string $cell): array
    {
        $variables = $shapes = $functions = $classes = [];
        foreach ($GLOBALS as $name => $value) {
            if (!in_array($name, self::NOT_OURS, true) && count($variables) < self::MOST) {
                $variables[] = $this->variable("\$$name", $value);
                $shapes[$name] = $this->shape($value, 0);
            }
        }
        foreach (get_defined_constants(true)['user'] ?? [] as $name => $value) {
            $variables[] = $this->variable($name, $value);
        }
        foreach (get_defined_functions()['user'] as $name) {
            $function = new \ReflectionFunction($name);
            if ($function->getFileName() === $cell) {
                $functions[$function->name] = self::signature($function);
                $variables[] = ['name' => $function->name, 'type' => 'function', 'summary' => "function $function->name", 'size' => null,
                    'description' => "function $function->name", 'preview' => $function->name . $functions[$function->name]];
            }
        }
        foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $name) {
            $class = new \ReflectionClass($name);
            if (!$class->isInternal() && strpos($name, 'OiTui\\') !== 0 && strpos($name, "\0") === false) {
                $classes[$name] = self::members($class);
                if ($class->getFileName() === $cell) {
                    $variables[] = ['name' => $name, 'type' => 'class', 'summary' => "class $name", 'size' => null,
                        'description' => "class $name", 'preview' => "class $name"];
                }
            }
        }
        return ['variables' => $variables, 'shapes' => $shapes, 'functions' => $functions, 'classes' => $classes];
    }

    private function variable(string $name, $value): array
    {
        $summary = self::summary($value);
        $preview = $this->room > 0 ? self::preview($value, 0) : $summary;
        $this->room -= strlen($preview);
        $description = is_string($value) ? 'string of ' . strlen($value) . ' bytes' : $summary;
        return ['name' => $name, 'type' => self::type($value), 'summary' => $summary, 'size' => self::size($value),
            'description' => $description, 'preview' => substr($preview, 0, self::PREVIEW)];
    }

    private static function type($value): string
    {
        $names = ['integer' => 'int', 'double' => 'float', 'boolean' => 'bool', 'NULL' => 'null'];
        return is_object($value) ? preg_replace('/@anonymous.*/s', '@anonymous', get_class($value)) : $names[gettype($value)] ?? gettype($value);
    }

    private static function summary($value): string
    {
        if (is_string($value)) {
            $shown = strlen($value) <= self::LONGEST ? self::quote($value) : '';
            return $shown !== '' ? $shown : 'string of ' . strlen($value) . ' bytes';
        }
        if (is_array($value)) {
            return 'array of ' . count($value);
        }
        if (is_object($value)) {
            return interface_exists('UnitEnum', false) && $value instanceof \UnitEnum ? self::type($value) . "::$value->name" : self::type($value);
        }
        return is_resource($value) ? 'resource of type ' . get_resource_type($value) : (gettype($value) === 'resource (closed)' ? 'closed resource' : ($value === null ? 'null' : var_export($value, true)));
    }

    private static function quote(string $text): string
    {
        return (string) json_encode($text, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE);
    }

    /** The bytes of a value itself, as PHP lays it out on machines of 64 bits. */
    private static function size($value): int
    {
        if (is_string($value)) {
            return 40 + strlen($value);
        }
        return is_array($value) ? 72 + 32 * max(8, 2 ** (int) ceil(log(max(1, count($value)), 2))) : 16;
    }

    /** The properties of an object by their names, without asking it; only those that all code can read, or all. */
    private static function properties(object $value, bool $all = true): array
    {
        if (method_exists('ReflectionClass', 'isUninitializedLazyObject') && (new \ReflectionClass($value))->isUninitializedLazyObject($value)) {
            return [];
        }
        $found = [];
        foreach ($value instanceof \ArrayObject || $value instanceof \ArrayIterator ? [] : (array) $value as $name => $item) {
            if ($all || strpos("$name", "\0") === false) {
                $found[substr((string) strrchr("\0$name", "\0"), 1)] = $item;
            }
        }
        return $found;
    }

    private static function preview($value, int $depth): string
    {
        $items = is_array($value) ? $value : (is_object($value) && !$value instanceof \Closure ? self::properties($value) : []);
        if (!$items || $depth > self::DEEPEST) {
            return is_string($value) && $depth === 0 ? self::quote(substr($value, 0, self::PREVIEW)) : self::summary($value);
        }
        $lines = [];
        foreach ($items as $key => $item) {
            $shown = is_object($value) ? "$key: " : (is_string($key) ? self::quote($key) . ' => ' : "$key => ");
            $lines[] = str_repeat('  ', $depth + 1) . $shown . self::preview($item, $depth + 1);
            if (count($lines) === 100 && count($items) > 100) {
                $lines[] = str_repeat('  ', $depth + 1) . '… ' . (count($items) - 100) . ' more';
                break;
            }
        }
        [$open, $close] = is_array($value) ? ['[', ']'] : [self::type($value) . ' {', '}'];
        return "$open\n" . implode(",\n", $lines) . "\n" . str_repeat('  ', $depth) . $close;
    }

    /** What completions need of a value: a few words, its class, and what is in it. */
    private function shape($value, int $depth): array
    {
        $this->nodes--;
        $found = ['facts' => self::summary($value)];
        if (is_object($value)) {
            $found['class'] = get_class($value);
        }
        $items = is_array($value) ? $value : (is_object($value) ? self::properties($value, false) : []);
        foreach ($depth < self::DEEPEST ? array_slice($items, 0, 100, true) : [] as $key => $item) {
            if ($this->nodes <= 0) {
                break;
            }
            $found['items'][$key] = $this->shape($item, $depth + 1);
        }
        return $found;
    }

    /** What stands behind `::` and `->` of a class: methods with their signatures, constants and static properties. */
    public static function members(\ReflectionClass $class): array
    {
        $found = ['methods' => [], 'static' => [], 'constants' => []];
        foreach ($class->getReflectionConstants() as $constant) {
            if ($constant->isPublic()) {
                $found['constants'][] = $constant->name;
            }
        }
        foreach ($class->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
            if ($method->name === '__construct') {
                $found['constructor'] = self::signature($method);
            } elseif (strpos($method->name, '__') !== 0) {
                $found[$method->isStatic() ? 'static' : 'methods'][$method->name] = self::signature($method);
            }
        }
        foreach ($class->getProperties(\ReflectionProperty::IS_PUBLIC) as $property) {
            if ($property->isStatic()) {
                $found['static']["\$$property->name"] = '';
            }
        }
        return $found;
    }

    /** The parameters of a function; what a default value is would have to be worked out. */
    public static function signature(\ReflectionFunctionAbstract $function): string
    {
        $words = [];
        foreach ($function->getParameters() as $parameter) {
            $type = $parameter->getType();
            $words[] = ($type ? "$type " : '') . ($parameter->isPassedByReference() ? '&' : '')
                . ($parameter->isVariadic() ? '...' : '') . "\$$parameter->name"
                . ($parameter->isOptional() && !$parameter->isVariadic() ? ' = …' : '');
        }
        $returned = $function->getReturnType();
        return '(' . implode(', ', $words) . ')' . ($returned ? ": $returned" : '');
    }
}
