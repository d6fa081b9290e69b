<?php
// Runs a cell of PHP under the name that the screen gives it, which errors, traces and __FILE__ then have. Of the
// variables that the cell sees, none is this file's.

namespace OiTui;

require __DIR__ . '/php_memory.php';

final class Cell
{
    public $context;
    private static string $code = '';
    private int $at = 0;

    /** Let the next file that is opened be the cell, and return its name. */
    public static function open(string $path, string $name): string
    {
        self::$code = file_get_contents($path);
        $GLOBALS['argv'] = $_SERVER['argv'] = [$name];
        $GLOBALS['argc'] = $_SERVER['argc'] = 1;
        // Guards of scripts compare these with __FILE__.
        foreach (['PHP_SELF', 'SCRIPT_NAME', 'SCRIPT_FILENAME', 'PATH_TRANSLATED'] as $key) {
            $_SERVER[$key] = $name;
        }
        set_exception_handler([self::class, 'tell']);
        stream_wrapper_unregister('file');
        stream_wrapper_register('file', self::class);
        return $name;
    }

    /** Say what nobody caught, as PHP does, without the call of the cell by this file. */
    public static function tell(\Throwable $error): void
    {
        $place = "in {$error->getFile()} on line {$error->getLine()}\n";
        if ($error instanceof \ParseError) {
            echo "\nParse error: {$error->getMessage()} $place";
        } else {
            $own = '/^(#\d+) ' . preg_quote(__FILE__, '/') . '\(\d+\): include\(.*\)\n#\d+ (?=\{main\})/m';
            echo "\nFatal error: Uncaught ", preg_replace($own, '$1 ', (string) $error), "\n  thrown $place";
        }
        exit(255);
    }

    public function stream_open(): bool
    {
        stream_wrapper_restore('file');
        return true;
    }

    public function stream_read(int $count): string
    {
        $part = substr(self::$code, $this->at, $count);
        $this->at += strlen($part);
        return $part;
    }

    public function stream_eof(): bool
    {
        return $this->at >= strlen(self::$code);
    }

    public function stream_stat(): array
    {
        return [];
    }

    public function stream_set_option(): bool
    {
        return false;
    }
}

Memory::writeAtEnd(dirname($argv[1], 2) . '/memory', $argv[2]);
include Cell::open($argv[1], $argv[2]);
