'use strict';
// What the drivers of Deno and Bun have in common. The main thread is the program's: it runs cells one after the other,
// waits for what they have begun as a script would, and tells of their fate. A worker reads the requests meanwhile.

const fs = require('fs');
const path = require('path');
const util = require('util');
const { createRequire } = require('module');
const { pathToFileURL } = require('url');
const { makePrompt } = require('./javascript_prompt.js');

// A program may put others in their place.
const { process, Promise } = globalThis;
const { stdout, stderr } = process;
const exit = Symbol('exit');

class Exit extends Error {
  constructor(code) {
    super(`exit status ${code}`);
    this[exit] = true;
    this.code = code;
  }
}

const isExit = (error) => Boolean(error && typeof error === 'object' && Object.hasOwn(error, exit));
const outcomeOf = (code) => (code ? ['failed', `exit status ${code}`] : ['finished', null]);

/** Code that cannot be run as it is: the error in words, and its line. */
class Problem extends Error {
  constructor(words, line) {
    super(words);
    this.line = line;
  }
}

/** Thrown where the run was interrupted and the code has ended. */
class Interrupted extends Error {}

/** Timers of the program: those that a run has begun end with it when it is interrupted. `call` does what one is for. */
function trackTimers(call) {
  const begun = new Map();
  const clear = { setTimeout: globalThis.clearTimeout, setInterval: globalThis.clearInterval, setImmediate: globalThis.clearImmediate };
  for (const [name, end] of Object.entries(clear)) {
    const make = globalThis[name];
    const made = (act, ...given) => {
      if (typeof act !== 'function') return make(act, ...given);
      const done = (...values) =>
        call(() => {
          // It counts until it is called, which may be a moment later: the run must not end between. An interrupt drops it.
          if (!begun.has(timer)) return;
          if (name !== 'setInterval') begun.delete(timer);
          act(...values);
        });
      const timer = make(done, ...given);
      begun.set(timer, end);
      return timer;
    };
    Object.defineProperties(made, Object.getOwnPropertyDescriptors(make));
    globalThis[name] = made;
    const ended = (timer) => {
      begun.delete(timer);
      return end(timer);
    };
    Object.defineProperties(ended, Object.getOwnPropertyDescriptors(end));
    globalThis[end.name] = ended;
  }
  // A timer that keeps no script alive is not waited for.
  const keepsAlive = (timer) => !(typeof timer === 'object' && timer && timer.hasRef && !timer.hasRef());
  return {
    isEmpty: () => ![...begun.keys()].some(keepsAlive),
    end() {
      for (const [timer, end] of begun) end(timer);
      begun.clear();
    },
  };
}

/** What cells find: `require`, and `import` from where the program works. */
function giveModules(importer) {
  const base = path.join(process.cwd(), '[cell]');
  const require_ = createRequire(base);
  process.argv.length = 1;
  process.argv.push(base);
  const module = { exports: {}, filename: base, id: '.' };
  Reflect.defineProperty(require_, 'main', { value: module, configurable: true, writable: true });
  Object.assign(globalThis, { require: require_, module, exports: module.exports, __filename: base, __dirname: process.cwd() });
  return {
    import(name, options) {
      const relative = /^\.{0,2}\//.test(name);
      if (relative || /^\w[\w+.-]+:/.test(name)) return importer(relative ? pathToFileURL(path.resolve(name)).href : name, options);
      try {
        const found = require_.resolve(name);
        return importer(path.isAbsolute(found) ? pathToFileURL(found).href : found, options);
      } catch {
        return importer(name, options);
      }
    },
    meta: { url: pathToFileURL(base).href, filename: base, dirname: process.cwd(), main: true },
  };
}

// Where lines of the code stood before it was rewritten, by the name of its cell.
function placing(places) {
  return (line) =>
    line.replace(/(cell-\d+(?:\.run-\d+)?\.ts):(\d+)(?::(\d+))?/g, (all, url, row, column) => {
      const found = places.has(url) && places.get(url)(Number(row), Number(column || 1));
      return found ? `${url}:${found.join(':')}` : all;
    });
}

const OURS = /^\s+at .*(?:_driver\.mjs|_worker\.mjs|javascript_\w+\.js|ext:|node:|native:|\(native\)|unknown|file:\/\/\/:)/;

/** Let `stack` of an error, and all that prints it, have only the program's own calls, at their places in the cells. */
function cleanStacks(placed) {
  const headOf = (error) => {
    const { name = 'Error', message = '' } = Object(error);
    return message === '' ? `${name}` : `${name}: ${message}`;
  };
  Error.prepareStackTrace = (error, sites) => {
    const lines = sites.map((site) => `    at ${site}`).filter((line) => !OURS.test(line));
    return [headOf(error), ...lines.map(placed)].join('\n');
  };
}

/**
 * Serve the requests that `worker` hands on.
 *
 * `evaluate` runs the code of a cell and resolves to its value; `memory` gives the answers to questions about
 * variables, `tables` what is told of a value that is a table; `inspect` shows a value; `rest` waits for what a run has begun, given whether timers are left. Without
 * it, that is over once the event loop is empty. `call` calls a function of the program so that an interrupt can end it; `settle` waits for a
 * signal that came too late for the run that it was for. `report` tells listeners of an error that nothing caught, and whether one of them took
 * it; `endThreads` ends those that the run has started. `running` holds
 * the number of the run that is under way, or 0.
 */
exports.serve = ({ folder, worker, importer, evaluate, memory, tables, inspect, rest, call, settle = () => {}, report = () => false, endThreads = () => {}, running = new Int32Array(1) }) => {
  const events = fs.openSync(path.join(folder, 'events'), 'a');
  const terminal = fs.openSync('/dev/tty', 'w');
  const timers = trackTimers((act) => call(act, raise));
  const places = new Map();
  const named = new Map();
  cleanStacks(placing(places));
  let current = null;
  let count = 0;
  let begun = 0;
  let onEmpty = () => {};

  const send = (event, isPlaced, nonce = (current && current.nonce) || 'idle') => {
    if (isPlaced) event.mark = `${nonce}.m${++count}`;
    fs.writeSync(events, `${JSON.stringify(event)}\n`);
    if (isPlaced) fs.writeSync(terminal, `\x1b]6973;${event.mark}\x07`);
  };
  const prompt = makePrompt(send);
  Object.assign(globalThis, {
    prompt,
    confirm: (question = 'Confirm') => /^y/i.test(prompt(`${question} [y/N]`) || ''),
    alert: (question = 'Alert') => void prompt(`${question} [Enter]`),
  });
  const hidden = giveModules(importer);
  Object.defineProperty(globalThis, '__oi', { value: hidden, enumerable: false });

  const leave = (code) => {
    throw new Exit(Number(code === undefined ? process.exitCode || 0 : code));
  };
  process.exit = leave;

  // An error that nothing catches ends a script, and so does a call of `process.exit`: the run waits for nothing more.
  const fail = (error, words = 'Uncaught') => current && current.end(outcomeOfError(error, words));
  // Where the program listens itself, the error is caught.
  const isHeard = (name, error) => process.listeners(name).some((one) => one !== handlers[name]) && !isExit(error) && !(error instanceof Interrupted);
  const uncaught = (name, words) => (error) => {
    if (isReporting) isCalled = true;
    else if (!isHeard(name, error)) fail(error, words);
  };
  const handlers = {
    SIGINT: () => {},
    uncaughtException: uncaught('uncaughtException', 'Uncaught'),
    unhandledRejection: uncaught('unhandledRejection', 'Uncaught (in promise)'),
  };
  // A run begins with these, whatever the last one removed. They come first: what listens once is gone after its call.
  const { prependListener } = process;
  const listen = () => {
    for (const [name, handler] of Object.entries(handlers)) {
      if (!process.listeners(name).includes(handler)) prependListener.call(process, name, handler);
    }
  };
  for (const method of ['prependListener', 'prependOnceListener']) {
    const prepend = process[method];
    process[method] = (name, ...given) => {
      prepend.call(process, name, ...given);
      const handler = Object.hasOwn(handlers, name) && handlers[name];
      if (handler && process.listeners(name).includes(handler)) {
        process.removeListener(name, handler);
        prependListener.call(process, name, handler);
      }
      return process;
    };
  }
  // What a timer throws comes to us, and not to those who listen.
  let isReporting = false;
  let isCalled = false;
  const isTaken = (error) => {
    isReporting = true;
    isCalled = false;
    try {
      return report(error, () => isCalled);
    } finally {
      isReporting = false;
    }
  };
  const raise = (error) => {
    if (isHeard('uncaughtException', error)) process.emit('uncaughtException', error, 'uncaughtException');
    else if (isExit(error) || error instanceof Interrupted || !isTaken(error)) fail(error);
  };
  listen();
  process.on('beforeExit', () => {
    worker.ref();
    onEmpty();
  });

  const say = (text) => stderr.write(`${text}\n`);
  const explain = (error, words = 'Uncaught') => {
    try {
      if (error instanceof Problem) {
        say(`${words} ${error.message}\n    at ${current.url}:${error.line}`);
        return error.message.slice(0, 300);
      }
      if (!util.types.isNativeError(error)) {
        const text = inspect(error);
        say(`${words} ${text}`);
        return text.split('\n')[0].slice(0, 300);
      }
      say(`${words} ${trace(error)}`);
      return `${error.name}: ${String(error.message).split('\n')[0]}`.slice(0, 300);
    } catch {
      say(`${words}: what was thrown cannot be shown`);
      return 'what was thrown cannot be shown';
    }
  };
  const trace = (error, deep = 0) => {
    const stack = String(error.stack || '').split('\n').filter((line) => /^\s+at /.test(line) && !OURS.test(line));
    const lines = [`${error.name}: ${error.message}`, ...stack];
    const { cause } = error;
    if (cause !== undefined && deep < 5) lines.push(`Caused by: ${util.types.isNativeError(cause) ? trace(cause, deep + 1) : inspect(cause)}`);
    return lines.join('\n');
  };

  const outcomeOfError = (error, words) => {
    if (isExit(error)) return outcomeOf(error.code);
    return error instanceof Interrupted ? ['interrupted', null] : ['failed', explain(error, words)];
  };

  // A question that an interrupted run left open is nobody's: it would take the next one's answer.
  const abandon = () => {
    const { stdin } = process;
    if (!stdin || !stdin.readableFlowing) return;
    for (const name of ['keypress', 'data', 'readable', 'end']) stdin.removeAllListeners(name);
    if (stdin.isRaw) stdin.setRawMode(false);
    stdin.pause();
  };

  // Resolves once the event loop is empty.
  const empty = () =>
    new Promise((resolve) => {
      onEmpty = resolve;
      worker.unref();
    });
  const settled = (promise, otherwise) => (rest ? promise : Promise.race([promise, empty().then(otherwise)]));
  const stuck = () => {
    throw new Error('this awaits a promise that nothing can settle any more');
  };

  // A table is told in place of its text.
  function show(value, told) {
    globalThis._ = value;
    if (told) send({ event: 'view', ...told }, true);
    stdout.write(`${inspect(value)}\n`);
    if (told) send({ event: 'view_end' }, true);
  }

  async function work(run) {
    try {
      let result = await settled(evaluate(run, (place) => places.set(run.url, place)), stuck);
      if (util.types.isPromise(result)) result = await settled(result, stuck);
      if (current !== run) return null;
      const isTimer = result && ['Timeout', 'Immediate', 'Timer'].includes(result.constructor && result.constructor.name);
      if (result !== undefined && !isTimer) {
        const told = await tables(result);
        if (current !== run) return null;
        show(result, told);
      }
      await (rest ? rest(() => timers.isEmpty() || current !== run) : empty());
      if (current !== run) return null;
      const { exitCode } = process;
      process.exitCode = 0;
      return outcomeOf(Number(exitCode || 0));
    } catch (error) {
      if (current !== run) return null;
      return outcomeOfError(error);
    }
  }

  // Code that was taken back leaves its functions behind: other code of the same number gets another name.
  function nameOf(file, source) {
    const number = /\d+$/.exec(file)[0];
    for (let time = 1; ; time++) {
      const url = `cell-${number}${time > 1 ? `.run-${time}` : ''}.ts`;
      if (!named.has(url)) named.set(url, source);
      if (named.get(url) === source) return url;
    }
  }

  function begin(nonce, file) {
    const source = fs.readFileSync(file, 'utf8').replace(/^\ufeff/, '');
    const run = { nonce, source, url: nameOf(file, source) };
    // Ends the run once, for whatever reason comes first.
    run.end = ([state, reason]) => {
      if (current !== run) return;
      run.isOver = true;
      Atomics.store(running, 0, 0);
      onEmpty = () => {};
      worker.ref();
      if (state !== 'finished') timers.end();
      if (state === 'interrupted') endThreads();
      if (state === 'interrupted') abandon();
      current = null;
      worker.postMessage({ ended: nonce });
      fs.writeSync(events, `${JSON.stringify({ event: 'finished', nonce, state, reason, mark: `${nonce}.end` })}\n`);
      fs.writeSync(terminal, `\x1b]6973;${nonce}.end\x07`);
      if (state === 'interrupted') settle();
    };
    current = run;
    listen();
    Atomics.store(running, 0, ++begun);
    worker.postMessage({ begun: { nonce, url: run.url, source } });
    work(run).then((outcome) => outcome && run.end(outcome));
  }

  worker.on('message', (message) => {
    if (message.request) {
      const [word, nonce, name] = message.request;
      if (word === 'run') begin(nonce, name);
      else answer(word, nonce, name);
    } else if (message.interrupt && current && current.nonce === message.interrupt) {
      current.end(['interrupted', null]);
    } else if (message.ready) {
      fs.writeSync(events, `${JSON.stringify({ event: 'ready', pid: process.pid })}\n`);
    }
  });

  async function answer(word, nonce, name) {
    let told = {};
    try {
      const asked = { variables: 'all', variable: 'one', completions: 'complete', table: 'table' }[word];
      told = await memory(asked, name);
    } catch {
      // What cannot be looked at is not told.
    }
    send({ event: word, nonce, ...told }, false);
  }

  return { leave, send, endTimers: timers.end };
};

Object.assign(exports, { Problem, Interrupted });
