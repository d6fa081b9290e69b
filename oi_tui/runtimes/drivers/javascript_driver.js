'use strict';
// The driver inside Node.js. The main thread is the program's; a worker owns the pipes, evaluates cells through the
// inspector (REPL semantics: await at top level, const that can be declared again), asks for the running line, and
// interrupts. No port is opened.

const { Worker, isMainThread, workerData } = require('worker_threads');
const fs = require('fs');
const path = require('path');
const { keepPlace, stripTypes } = require('./javascript_types.js');
const { watchEventLoop } = require('./javascript_waiting.js');
const { watchOutput } = require('./javascript_output.js');
const { rewriteImports } = require('./javascript_imports.js');
const { makePrompt } = require('./javascript_prompt.js');
const { locate } = require('./javascript_line.js');

if (isMainThread) main(process.argv[2], process.argv[3] === 'typed');
else work(workerData);

function main(folder, typed) {
  const tty = require('tty');
  const util = require('util');
  const timers = require('timers');
  // A program may put others in their place.
  const { process, Promise } = globalThis;
  const Module = require('module');
  const { pathToFileURL } = require('url');
  const { promiseHooks, getHeapStatistics } = require('v8');
  const events = fs.openSync(path.join(folder, 'events'), 'a');
  const terminal = fs.openSync('/dev/tty', 'w');
  const output = watchOutput(terminal, typed ? 'TypeScript' : 'JavaScript');
  const exit = Symbol('exit');
  let nonce = 'idle';
  let count = 0;

  function send(event, placed) {
    if (placed) event.mark = `${nonce}.m${++count}`;
    fs.writeSync(events, JSON.stringify(event) + '\n');
    if (placed) fs.writeSync(terminal, `\x1b]6973;${event.mark}\x07`);
  }

  const isExit = (error) => {
    try {
      return Boolean(error && error[exit]);
    } catch {
      return false;
    }
  };
  class Exit extends Error {
    constructor(code) {
      super(`exit status ${code}`);
      this[exit] = true;
      this.code = code;
    }
  }

  process.argv.length = 2;
  // An error that nothing catches ends a script, and so does a call of `process.exit`: the run waits for nothing more.
  const uncaught = (name, words) => (error) => {
    if (process.listenerCount(name) > 1 && !isExit(error)) return;
    const outcome = isExit(error) ? outcomeOf(error.code) : ['failed', explain(error, '', words)];
    if (!current) return;
    current.outcome = current.outcome || outcome;
    endTimers();
    current.waiting.end();
  };
  const handlers = {
    SIGINT: () => {},
    uncaughtException: uncaught('uncaughtException', 'Uncaught'),
    unhandledRejection: uncaught('unhandledRejection', 'Uncaught (in promise)'),
  };
  const outcomeOf = (code) => (code ? ['failed', `exit status ${code}`] : ['finished', null]);
  // A run begins with what every run may count on, whatever the last one did to it.
  const signalListeners = ['newListener', 'removeListener'].map((name) => [name, process.listeners(name)]);
  function prepare() {
    // With these two Node.js itself starts and stops listening for signals.
    for (const [name, listeners] of signalListeners) {
      for (const listener of listeners) if (!process.listeners(name).includes(listener)) process.on(name, listener);
    }
    for (const [name, handler] of Object.entries(handlers)) {
      if (!process.listeners(name).includes(handler)) process.on(name, handler);
    }
    output.restore();
    ownTimers.clear();
  }

  // The timers that the run has set: when it is interrupted, they end with it.
  const ownTimers = new Set();
  let sweepAbove = 1000;
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
    const make = timers[name];
    const wrapped = (...given) => {
      const timer = make(...given);
      ownTimers.add(timer);
      if (ownTimers.size > sweepAbove) {
        for (const timer of ownTimers) if (timer._destroyed) ownTimers.delete(timer);
        sweepAbove = Math.max(1000, ownTimers.size * 2);
      }
      return timer;
    };
    Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(make));
    globalThis[name] = timers[name] = wrapped;
  }
  const endTimers = () => {
    for (const timer of ownTimers) (timer.constructor.name === 'Immediate' ? timers.clearImmediate : timers.clearTimeout)(timer);
    ownTimers.clear();
    if (tools) tools.end();
  };
  const quit = process.exit.bind(process);
  process.exit = (code) => {
    throw new Exit(Number(code === undefined ? process.exitCode || 0 : code));
  };

  // What a script finds: it is the main module, and it was given no arguments.
  const base = path.join(process.cwd(), '[cell]');
  const require_ = Module.createRequire(base);
  const self = Object.assign(new Module('.'), { filename: base, paths: require_.resolve.paths('x') || [] });
  process.argv[1] = base;
  require_.main = self;
  Object.assign(globalThis, { require: require_, module: self, exports: self.exports });
  Object.assign(globalThis, { __filename: base, __dirname: process.cwd() });
  // Where the application offers tools of MCP servers. They are taken from here before a program can change anything.
  const tools = process.env.OI_TUI_TOOLS ? require('./javascript_tools.js') : null;
  if (tools) tools.give(process.env.OI_TUI_TOOLS);

  globalThis.prompt = makePrompt(send);

  const inspector = require('inspector');
  const session = new inspector.Session();
  session.connect();
  const post = (method, params) => {
    let found;
    session.post(method, params, (error, result) => {
      if (error) throw error;
      found = result;
    });
    return found;
  };
  // The promise of a cell is kept until it is settled. One that nothing will ever settle, as after an interrupt, would be
  // collected, and the inspector would report that in the middle of it, which ends newer versions of Node.js.
  const unsettled = new Set();
  const startEvaluation = (params) =>
    new Promise((resolve, reject) => {
      let promise;
      const unhook = promiseHooks.onInit((made) => {
        if (!promise) unsettled.add((promise = made));
      });
      session.post('Runtime.evaluate', params, (error, result) => {
        unsettled.delete(promise);
        if (error) reject(error);
        else resolve(result);
      });
      unhook();
    });
  const valueOf = (object) => {
    if (!object.objectId) return object.unserializableValue ? eval(`(${object.unserializableValue})`) : object.value;
    let value;
    hidden.take = (result) => {
      value = result;
    };
    post('Runtime.callFunctionOn', { objectId: object.objectId, functionDeclaration: 'function (value) { __oi.take(value) }', arguments: [{ objectId: object.objectId }] });
    return value;
  };
  const hidden = {
    import(name) {
      if (/\.json$/.test(name)) return Promise.resolve({ default: require_(name) });
      if (/^\.{0,2}\//.test(name)) return import(pathToFileURL(path.resolve(name)).href);
      if (/^(node:|https?:|file:|data:)/.test(name)) return import(name);
      let found;
      try {
        found = require_.resolve(name);
      } catch {
        return import(name);
      }
      return import(path.isAbsolute(found) ? pathToFileURL(found).href : found);
    },
    meta: {
      url: pathToFileURL(base).href,
      filename: base,
      dirname: process.cwd(),
      resolve: (name) => pathToFileURL(require_.resolve(name)).href,
    },
  };
  Object.defineProperty(globalThis, '__oi', { value: hidden, enumerable: false });

  // Where the run is in its own cell, as "line:column", or nothing. The worker asks while the program runs.
  hidden.locate = () => (current && locate(current.url) || []).join(':');

  const writes = /(?:^|[\n;])\s*process\.std(?:out|err)\.write\([^;\n]*\)\s*;?\s*$/;
  const show = (value) => {
    const view = memory.shown(value);
    globalThis._ = value;
    if (view) send({ event: 'view', ...view }, true);
    const text = util.inspect(value);
    process.stdout.write((value instanceof Error ? cleanTrace(text).join('\n') : text) + '\n');
    if (view) send({ event: 'view_end' }, true);
  };
  const explain = (error, where, words = 'Uncaught') => {
    try {
      return writeError(error, where, words);
    } catch {
      process.stderr.write(`${words}: what was thrown cannot be shown\n`);
      return 'what was thrown cannot be shown';
    }
  };
  // For each cell with types, by its name: where a line and column stood before the types were removed.
  const places = new Map();
  const mapPlaces = (line) =>
    line.replace(/(cell-\d+(?:\.run-\d+)?\.ts):(\d+)(?::(\d+))?/g, (all, url, row, column) => {
      const found = places.has(url) && places.get(url)(Number(row), Number(column || 1));
      return found ? `${url}:${column ? found.join(':') : found[0]}` : all;
    });
  // The lines of an error without those that the driver adds.
  const driverLines = /^\s+at .*(javascript_(?:driver|output)\.js|node:inspector|node:internal\/worker|nodejs\.internal|new Promise \(<anonymous>\)|Worker\.emit|MessagePort\.)/;
  const cleanTrace = (text) => text.split('\n').filter((line) => !driverLines.test(line));
  const { toString } = Error.prototype;
  const nameError = (error) => {
    try {
      return toString.call(error);
    } catch {
      return 'Error';
    }
  };
  // What a program shows of an error that it caught ends with its own lines, too.
  Error.prepareStackTrace = (error, frames) => {
    const first = frames.findIndex((frame) => frame.getFileName() === __filename);
    let end = first < 0 ? frames.length : first;
    while (first >= 0 && end && frames[end - 1].getFileName() === 'node:inspector') end -= 1;
    const lines = frames.slice(0, end).map((frame) => mapPlaces(`    at ${frame}`));
    return [nameError(error), ...lines].join('\n');
  };
  const importer = / imported from \S*javascript_driver\.js$/;
  const writeError = (error, where, words) => {
    if (!(error instanceof Error)) {
      const text = util.inspect(error);
      process.stderr.write(`${words} ${text}\n`);
      return text.split('\n')[0].slice(0, 300);
    }
    const lines = cleanTrace(util.inspect(error));
    lines[0] = lines[0].replace(importer, '');
    if (where && error instanceof SyntaxError && !lines.some((line) => /^\s+at /.test(line))) lines.splice(1, 0, `    at ${mapPlaces(where)}`);
    process.stderr.write(`${words} ${lines.join('\n')}\n`);
    return `${error.name}: ${String(error.message).split('\n')[0].replace(importer, '')}`.slice(0, 300);
  };
  // Close a question that an interrupted run left open: it would take the answer to the next one.
  const abandon = () => {
    for (const handle of process._getActiveHandles()) {
      if (!(handle instanceof tty.ReadStream) || handle.isPaused()) continue;
      handle.removeAllListeners('keypress');
      handle.removeAllListeners('end');
      if (handle.isRaw) handle.setRawMode(false);
      handle.pause();
      process.stdout.removeAllListeners('resize');
    }
  };

  const isTermination = (error) => {
    const { value } = Object.getOwnPropertyDescriptor(error, 'code') || {};
    return value === 'ERR_INSPECTOR_COMMAND' && /terminated|Internal error/.test(error.message);
  };

  async function evaluate(run) {
    let where = '';
    nonce = run.nonce;
    await output.stopDiscarding();
    abandon();
    prepare();
    const { waiting } = run;
    // Where the worker has stopped what would have settled it, the worker ends the run.
    const stuck = async () => {
      await new Promise((resolve) => {
        run.confirm = resolve;
        worker.postMessage({ stuck: run.nonce });
      });
      throw new Error('this awaits a promise that nothing can settle any more');
    };
    try {
      const { code, place, problem, line } = typed ? stripTypes(run.source) : { code: run.source };
      if (problem) {
        process.stderr.write(`Uncaught ${problem}\n    at ${run.url}:${line}\n`);
        return ['failed', problem.slice(0, 300)];
      }
      if (typed) places.set(run.url, place);
      const evaluated = startEvaluation({
        expression: `${rewriteImports(code)}\n//# sourceURL=${run.url}`,
        objectGroup: 'cell',
        replMode: true,
        awaitPromise: true,
      });
      const outcome = await waiting.waitFor(evaluated, stuck);
      if (!outcome) return run.outcome || ['interrupted', null];
      if (outcome.exceptionDetails) {
        where = `${run.url}:${outcome.exceptionDetails.lineNumber + 1}`;
        if (!outcome.exceptionDetails.exception) return ['failed', outcome.exceptionDetails.text];
        throw valueOf(outcome.exceptionDetails.exception);
      }
      let value = valueOf(outcome.result);
      if (util.types.isPromise(value)) value = await waiting.waitFor(value, stuck);
      // `write` returns whether the stream takes more, which nobody wants to see who only prints.
      if (value === true && writes.test(run.source)) value = undefined;
      if (value !== undefined && !(value && ['Timeout', 'Immediate'].includes(value.constructor && value.constructor.name))) show(value);
      // Timers, requests and questions that the cell left under way belong to it, as they would to a script.
      await waiting.waitForAll();
      const { exitCode } = process;
      process.exitCode = undefined;
      return run.outcome || outcomeOf(exitCode);
    } catch (error) {
      if (run.outcome) return run.outcome;
      if (isExit(error)) return outcomeOf(error.code);
      if (util.types.isNativeError(error) && isTermination(error)) {
        endTimers();
        waiting.endThreads();
        await output.mend();
        return ['interrupted', null];
      }
      return ['failed', explain(error, where)];
    } finally {
      waiting.end();
    }
  }

  const { watch } = require('./javascript_variables.js');
  const memory = watch({
    language: typed ? 'typescript' : 'javascript',
    lexical: () => post('Runtime.globalLexicalScopeNames', {}).names,
    reach: (names) => {
      // Names are all that is evaluated, each in a function of its own that nothing of the program is called by.
      const outcome = post('Runtime.evaluate', { expression: `[${names.map((name) => `() => ${name}`)}]`, objectGroup: 'memory' });
      const found = outcome.exceptionDetails ? [] : valueOf(outcome.result);
      post('Runtime.releaseObjectGroup', { objectGroup: 'memory' });
      return found;
    },
  });

  // The worker offers a run until it is accepted; it is accepted once.
  let current = null;
  let acceptedNonce = '';
  // The run that was abandoned last. The worker may say so again.
  let leftNonce = '';
  const worker = new Worker(__filename, { workerData: { folder, typed, events, terminal, heap: Math.round(getHeapStatistics().heap_size_limit / 1e6) }, stdout: false, stderr: false });
  const { begin, hold } = watchEventLoop(process, worker);
  hidden.hold = (nonce) => {
    if (nonce && !(current && current.nonce === nonce)) return;
    hold();
    endTimers();
    output.discard();
  };
  worker.on('message', (message) => {
    if (message.end) quit(0);
    if (message.ask) {
      worker.postMessage({ answer: message.ask });
      return;
    }
    if (message.remember) {
      const [word, nonce, name] = message.remember;
      const answers = { variables: memory.all, variable: memory.one, completions: memory.complete, table: memory.table };
      try {
        send({ event: word, nonce, ...answers[word](name) }, false);
      } catch {
        // What cannot be read is left out.
        send({ event: word, nonce }, false);
      }
      return;
    }
    if (message.stuck) {
      if (current && current.nonce === message.stuck) current.confirm();
      return;
    }
    const run = message.run;
    if (message.leave) {
      const { leave } = message;
      const tell = () => worker.postMessage({ nonce: leave, state: 'interrupted', reason: null });
      if (current && current.nonce !== leave) return;
      if (leftNonce === leave) return tell();
      if (current) {
        current.waiting.end();
        current.waiting.endThreads();
      }
      current = null;
      endTimers();
      leftNonce = leave;
      worker.postMessage({ left: leave });
      output.mend().then(tell);
      return;
    }
    if (acceptedNonce === run.nonce) return;
    acceptedNonce = run.nonce;
    current = run;
    run.waiting = begin();
    worker.postMessage({ started: run.nonce });
    serve(run);
  });

  // End the run in any case, whatever the program has changed in the language.
  async function serve(run) {
    let outcome;
    try {
      outcome = await evaluate(run);
      await output.flush();
    } catch (error) {
      outcome = outcome || ['failed', explain(error)];
    }
    if (current !== run) return;
    try {
      output.tellReplacement(run.url);
    } catch {
      // What a cell has put there may fail.
    }
    current = null;
    worker.postMessage({ nonce: run.nonce, state: outcome[0], reason: outcome[1] });
  }
}

// How long a run waits for the main thread, in milliseconds, before what keeps that busy is ended.
const TIMEOUT = 1500;

function work({ folder, typed, events, terminal, heap }) {
  const { parentPort } = require('worker_threads');
  const inspector = require('inspector');
  const net = require('net');
  const session = new inspector.Session();
  session.connectToMainThread();
  let run = null;
  // The code of each cell, by its name.
  const sources = new Map();

  const send = (event, mark) => {
    if (mark) event.mark = mark;
    fs.writeSync(events, JSON.stringify(event) + '\n');
    if (mark) fs.writeSync(terminal, `\x1b]6973;${mark}\x07`);
  };
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  // Node.js leaves where nothing is left to wait for and what asks us is terminated too: so first it has us to wait for.
  // Timers would go on with what is ended. A termination that comes before that is done would end only that; one that
  // comes after the end of its run would end what is not to end.
  let isHolding = false;
  const terminate = (nonce = '') => {
    if (isHolding) return;
    isHolding = true;
    const own = run;
    session.post('Runtime.evaluate', { expression: `__oi.hold('${nonce}')` }, () => {
      isHolding = false;
      if (run === own) session.post('Runtime.terminateExecution', () => {});
    });
  };

  session.on('Debugger.paused', ({ params }) => {
    if (params.reason === 'OOM' && !exhausted) endOutOfMemory();
    session.post('Debugger.resume', () => {});
  });

  function startSampling(own) {
    own.sampler = setInterval(() => {
      if (own.isAsking) return;
      own.isAsking = true;
      session.post('Runtime.evaluate', { expression: '__oi.locate()', silent: true }, (error, answer) => {
        own.isAsking = false;
        const place = !error && answer.result.value;
        if (!place || run !== own) return;
        const [line] = own.place(...place.split(':').map(Number));
        if (line !== own.line) send({ event: 'line', line: (own.line = line) });
      });
    }, 33);
  }

  // A debugger is given four times the heap of a script, again and again; a script would end here. Only what runs is ended:
  // what it alone held can be given back.
  let exhausted = false;
  function endOutOfMemory() {
    exhausted = true;
    if (!run) restoreLimit();
    if (run) run.reason = `JavaScript ran out of memory (its heap may hold ${heap} MB)`;
    fs.writeSync(terminal, `JavaScript ran out of memory: its heap may hold ${heap} MB. What ran was stopped; variables are kept.\r\n`);
    terminate();
    // Where there is little memory, the main thread answers late: a second termination would hit what is not to end.
    interrupt(3000);
  }

  // The heap may hold as much as before only once no debugger is there.
  function restoreLimit() {
    exhausted = false;
    session.post('HeapProfiler.collectGarbage', () => {
      session.post('Debugger.disable', () => enableDebugger(() => {}));
    });
  }

  // Where a program stops at `debugger`, it goes on. Where memory runs out, the pause comes all the same.
  function enableDebugger(then) {
    session.post('Debugger.enable', () => session.post('Debugger.setSkipAllPauses', { skip: true }, then));
  }

  // Functions of a removed cell stay: other code with the same number gets another name.
  function nameOf(file, source) {
    const number = /\d+$/.exec(file)[0];
    for (let time = 1; ; time++) {
      const url = `cell-${number}${time > 1 ? `.run-${time}` : ''}.${typed ? 'ts' : 'js'}`;
      if (!sources.has(url)) sources.set(url, source);
      if (sources.get(url) === source) return url;
    }
  }

  function begin(nonce, file) {
    const source = fs.readFileSync(file, 'utf8');
    run = { nonce, source, url: nameOf(file, source), line: 0, place: typed ? stripTypes(source).place : keepPlace };
    const first = source.split('\n').findIndex((line) => line.trim() && !/^\s*\/\//.test(line));
    if (first >= 0) send({ event: 'line', line: (run.line = first + 1) });
    const own = run;
    const offeredAt = Date.now();
    const handOver = () => {
      if (run !== own || own.started) return;
      parentPort.postMessage({ run: { nonce, source, url: own.url } });
      if (Date.now() - offeredAt >= TIMEOUT) {
        // What an earlier run left behind never lets the next one begin, such as promises that go on for ever.
        if (!own.cleared) fs.writeSync(terminal, 'Ended what an earlier run left running\n');
        own.cleared = true;
        terminate();
      }
      setTimeout(handOver, 200);
    };
    handOver();
  }

  function finish(nonce, state, reason) {
    if (!run || run.nonce !== nonce) return;
    clearInterval(run.sampler);
    if (run.reason) [state, reason] = ['failed', run.reason];
    run = null;
    if (exhausted) restoreLimit();
    send({ event: 'finished', nonce, state, reason }, `${nonce}.end`);
  }

  // What runs is terminated. What only waits, so that the main thread answers, is left behind: a termination would
  // hit whatever runs there next.
  let lastQuestion = 0;
  const answers = new Map();
  const waitForAnswer = (milliseconds) =>
    Promise.race([
      new Promise((resolve) => {
        answers.set(++lastQuestion, resolve);
        parentPort.postMessage({ ask: lastQuestion });
      }),
      pause(milliseconds).then(() => false),
    ]);
  async function interrupt(timeout = 12) {
    const own = run;
    if (!own) return;
    own.interrupted = true;
    // A termination is to end the run, not what asks for its line.
    clearInterval(own.sampler);
    let idle = await waitForAnswer(timeout);
    for (let times = 0; times < 8 && !idle && run === own; times++) {
      if (times % 3 === 0) terminate(own.nonce);
      await pause(10);
      idle = run === own && (await waitForAnswer(150)) && (await waitForAnswer(150));
    }
    // One that goes on waiting is enough, however often somebody asks.
    if (own.awaited) return;
    own.awaited = true;
    // What a system call holds, such as a child process, is terminated when that ends.
    while (!idle && run === own) idle = (await waitForAnswer(500)) && (await waitForAnswer(500));
    // A child that the same interrupt ended lets the run end by itself, in a moment.
    await pause(30);
    // A termination that comes late takes with it what runs then: the driver's own end of the run, or this message. So
    // the message is sent until the run has ended.
    for (let times = 0; run === own; times++) {
      parentPort.postMessage({ leave: own.nonce });
      // What only looked idle, as between a write and the next, does not answer any more, and did not take the message.
      if (!(await waitForAnswer(times < 8 ? 30 : 500)) && times < 8 && run === own && !own.left) terminate(own.nonce);
      else await pause(100);
    }
  }

  parentPort.on('message', (message) => {
    if (message.answer) {
      const resolve = answers.get(message.answer);
      answers.delete(message.answer);
      if (resolve) resolve(true);
    } else if (message.stuck) {
      if (run && run.nonce === message.stuck && !run.interrupted) parentPort.postMessage(message);
    } else if (message.left) {
      if (run && run.nonce === message.left) run.left = true;
    } else if (message.started) {
      if (!run || run.nonce !== message.started || run.started) return;
      run.started = true;
      if (!run.interrupted) startSampling(run);
    } else finish(message.nonce, message.state, message.reason);
  });

  const requests = new net.Socket({ fd: fs.openSync(path.join(folder, 'requests'), fs.constants.O_RDONLY | fs.constants.O_NONBLOCK) });
  let unread = '';
  requests.setEncoding('utf8');
  requests.on('data', (piece) => {
    const lines = (unread + piece).split('\n');
    unread = lines.pop();
    for (const line of lines) {
      const [word, nonce, ...rest] = line.split(' ');
      const file = rest.length ? rest.join(' ') : undefined;
      if (word === 'run') begin(nonce, file);
      else if (word.startsWith('variable') || word === 'completions' || word === 'table') parentPort.postMessage({ remember: [word, nonce, file] });
      else interrupt();
    }
  });
  // Only the main thread runs what the program wants done at its end.
  requests.on('end', () => parentPort.postMessage({ end: true }));
  enableDebugger(() => send({ event: 'ready', pid: process.pid }));
}
