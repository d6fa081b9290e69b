// What the cells remember: names, types, shapes. No code of the program runs for it: methods are called only on objects
// of Java's own classes, and fields are read as they are.

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import jdk.jshell.JShell;
import jdk.jshell.Snippet;
import jdk.jshell.VarSnippet;

final class OiTuiMemory {
  private static final int MOST = 2000;
  private static final int LONGEST = 60;
  private static final int ELEMENTS = 100;

  private final JShell shell;
  private final Function<String, String> spell;
  /** The classes of the cells, in the order in which they were loaded. */
  private final List<Class<?>> classes;

  OiTuiMemory(JShell shell, Function<String, String> spell, List<Class<?>> classes) {
    this.shell = shell;
    this.spell = spell;
    this.classes = classes;
  }

  /** The fields of an event that tells all of them, oldest first. */
  String all() {
    List<String> found = new ArrayList<>();
    Stream.of(shell.types(), shell.methods(), shell.variables()).flatMap(snippets -> snippets).map(this::described).filter(Optional::isPresent)
        .forEach(one -> found.add(one.get()));
    List<String> newest = found.subList(Math.max(0, found.size() - MOST), found.size());
    return "\"variables\":[" + String.join(",", newest) + "],\"total\":" + found.size();
  }

  private Optional<String> described(Snippet snippet) {
    if (!shell.status(snippet).isActive()) return Optional.empty();
    String name = ((jdk.jshell.PersistentSnippet) snippet).name();
    if (name.startsWith("$")) return Optional.empty();
    String kind = kindOf(snippet);
    String words = snippet instanceof VarSnippet ? valueOf(name).map(OiTuiMemory::describe).orElse("null") : kind + " " + name;
    return Optional.of("{\"name\":" + spell.apply(name) + ",\"type\":" + spell.apply(kind) + ",\"summary\":" + spell.apply(words) + "}");
  }

  private static String kindOf(Snippet snippet) {
    if (snippet instanceof VarSnippet variable) return variable.typeName();
    return switch (snippet.subKind()) {
      case METHOD_SUBKIND -> "method";
      case INTERFACE_SUBKIND -> "interface";
      case ENUM_SUBKIND -> "enum";
      case RECORD_SUBKIND -> "record";
      default -> "class";
    };
  }

  /** The fields of an event that tells what one of them holds; nothing where there is none. */
  String one(String name) {
    Optional<Snippet> found = Stream.of(shell.types(), shell.methods(), shell.variables()).flatMap(snippets -> snippets)
        .map(each -> (Snippet) each).filter(each -> ((jdk.jshell.PersistentSnippet) each).name().equals(name)).reduce((first, second) -> second);
    if (found.isEmpty()) return "";
    boolean variable = found.get() instanceof VarSnippet;
    Optional<Object> value = variable ? valueOf(name) : Optional.empty();
    String words = value.map(OiTuiMemory::describe).orElse(variable ? "null" : kindOf(found.get()) + " " + name);
    String held = variable ? value.map(OiTuiMemory::preview).orElse("null") : found.get().source();
    return "\"description\":" + spell.apply(words) + ",\"preview\":" + spell.apply(held.substring(0, Math.min(held.length(), 20_000)));
  }

  /** What a variable holds; nothing for null. The newest declaration of the name counts. */
  private Optional<Object> valueOf(String name) {
    synchronized (classes) {
      for (int n = classes.size() - 1; n >= 0; n--) {
        try {
          Field field = classes.get(n).getDeclaredField(name);
          if (!Modifier.isStatic(field.getModifiers())) continue;
          field.setAccessible(true);
          return Optional.ofNullable(field.get(null));
        } catch (ReflectiveOperationException | LinkageError elsewhere) {
          continue;
        }
      }
    }
    return Optional.empty();
  }

  private static boolean isJavasOwn(Object value) {
    return value.getClass().getClassLoader() == null;
  }

  private static String describe(Object value) {
    if (value == null) return "null";
    String type = Modifier.isPublic(value.getClass().getModifiers()) || !isJavasOwn(value) ? value.getClass().getSimpleName()
        : value instanceof List ? "List" : value instanceof Set ? "Set" : value instanceof Map ? "Map" : value.getClass().getSimpleName();
    if (value instanceof String text) return text.length() <= LONGEST ? "\"" + text + "\"" : "String of " + text.length();
    if (value instanceof Number && isJavasOwn(value) || value instanceof Boolean) {
      String text = value.toString();
      return text.length() <= LONGEST ? text : type + " of " + text.length() + " digits";
    }
    if (value instanceof Character) return "'" + value + "'";
    if (value.getClass().isArray()) return type + " of " + Array.getLength(value);
    if (isJavasOwn(value) && value instanceof Collection<?> several) return type + " of " + several.size();
    if (isJavasOwn(value) && value instanceof Map<?, ?> pairs) return type + " of " + pairs.size();
    return type.isEmpty() ? value.getClass().getName() : type;
  }

  private static String preview(Object value) {
    List<String> lines = new ArrayList<>();
    if (value instanceof String text) return text;
    if (value.getClass().isArray()) {
      for (int n = 0; n < Math.min(Array.getLength(value), ELEMENTS); n++) lines.add(n + ": " + describe(Array.get(value, n)));
    } else if (isJavasOwn(value) && value instanceof Collection<?> several) {
      several.stream().limit(ELEMENTS).forEach(each -> lines.add(describe(each)));
    } else if (isJavasOwn(value) && value instanceof Map<?, ?> pairs) {
      pairs.entrySet().stream().limit(ELEMENTS).forEach(each -> lines.add(describe(each.getKey()) + ": " + describe(each.getValue())));
    } else if (isJavasOwn(value)) {
      return describe(value);
    } else {
      for (Field field : value.getClass().getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers()) || field.isSynthetic()) continue;
        try {
          field.setAccessible(true);
          lines.add(field.getName() + ": " + describe(field.get(value)));
        } catch (ReflectiveOperationException | RuntimeException hidden) {
          lines.add(field.getName());
        }
      }
    }
    return String.join("\n", lines);
  }
}
