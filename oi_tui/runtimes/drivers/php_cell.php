<?php
// Lets PHP read a cell under the name that the screen gives it, which errors, traces and __FILE__ then have. PHP runs the
// cell after this file and not within it, by its setting auto_append_file. So no trace has a call of the driver, and
// of the variables that the cell sees, none is this file's.

namespace OiTui;

require __DIR__ . '/php_memory.php';

final class Cell
{
    public $context;
    private static string $code = '';
    private int $at = 0;

    /** Let the next file that is opened be the cell. */
    public static function await(string $path, string $name): void
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
    }

    /** Say what nobody caught, as PHP does. */
    public static function tell(\Throwable $error): void
    {
        $place = "in {$error->getFile()} on line {$error->getLine()}\n";
        if ($error instanceof \ParseError) {
            echo "\nParse error: {$error->getMessage()} $place";
        } else {
            echo "\nFatal error: Uncaught $error\n  thrown $place";
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
Cell::await($argv[1], $argv[2]);
