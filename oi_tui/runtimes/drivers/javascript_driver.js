'use strict';
// The driver inside Node.js. The main thread is the program's; a worker owns the pipes, evaluates cells through the
// inspector (REPL semantics: await at top level, const that can be declared again), looks at the running line by
// short pauses, and interrupts. No port is opened.

const { Worker, isMainThread, workerData } = require('worker_threads');
const fs = require('fs');
const path = require('path');
const { stays, untyped } = require('./javascript_types.js');
const { attend } = require('./javascript_waiting.js');
const { importsAsCalls } = require('./javascript_imports.js');
const { asking } = require('./javascript_prompt.js');

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
  const heard = {
    SIGINT: () => {},
    uncaughtException: uncaught('uncaughtException', 'Uncaught'),
    unhandledRejection: uncaught('unhandledRejection', 'Uncaught (in promise)'),
  };
  const outcomeOf = (code) => (code ? ['failed', `exit status ${code}`] : ['finished', null]);
  // Node.js lets these two look whole again after their end, although nothing can be written to them any more.
  const ended = new WeakSet();
  for (const stream of [process.stdout, process.stderr]) {
    const destroy = stream._destroy;
    stream._destroy = function (...given) {
      ended.add(stream);
      return destroy.apply(this, given);
    };
  }
  // A run begins with what every run may count on, whatever the last one did to it.
  const signalled = ['newListener', 'removeListener'].map((name) => [name, process.listeners(name)]);
  function prepare() {
    // With these two Node.js itself begins and ends to hear signals.
    for (const [name, all] of signalled) {
      for (const hear of all) if (!process.listeners(name).includes(hear)) process.on(name, hear);
    }
    for (const [name, hear] of Object.entries(heard)) {
      if (!process.listeners(name).includes(hear)) process.on(name, hear);
    }
    for (const [fd, name] of ['stdin', 'stdout', 'stderr'].entries()) {
      let whole = false;
      try {
        whole = fs.fstatSync(fd) && (fd === 0 || (process[name].writable && !ended.has(process[name])));
      } catch {
        fs.openSync('/dev/tty', fd ? 'w' : 'r');
      }
      if (whole || fd === 0) continue;
      const value = new tty.WriteStream(fd);
      Object.defineProperty(process, name, { value, configurable: true, enumerable: true, writable: true });
      console[`_${name}`] = value;
    }
    for (const stream of streams()) {
      if (stream._writableState.writing && stream._handle && !stream._handle.writeQueueSize) free(stream);
    }
    if (process.stdout._refreshSize) process.stdout._refreshSize();
    begun.clear();
  }

  const wait = timers.setTimeout;
  // The timers that the run has begun: when it is interrupted, they end with it.
  const begun = new Set();
  let many = 1000;
  for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
    const make = timers[name];
    const made = (...given) => {
      const timer = make(...given);
      begun.add(timer);
      if (begun.size > many) {
        for (const each of begun) if (each._destroyed) begun.delete(each);
        many = Math.max(1000, begun.size * 2);
      }
      return timer;
    };
    Object.defineProperties(made, Object.getOwnPropertyDescriptors(make));
    globalThis[name] = timers[name] = made;
  }
  const endTimers = () => {
    for (const timer of begun) (timer.constructor.name === 'Immediate' ? timers.clearImmediate : timers.clearTimeout)(timer);
    begun.clear();
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

  globalThis.prompt = asking(send);

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
  // The promise of a cell is held until it is settled: one that nothing will ever settle, as after an interrupt, would be
  // collected, and the inspector would tell so in the middle of that, which ends newer versions of Node.js.
  const unsettled = new Set();
  const evaluation = (params) =>
    new Promise((resolve, reject) => {
      let promise;
      const unhook = promiseHooks.onInit((each) => {
        if (!promise) unsettled.add((promise = each));
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
    hidden.take = (taken) => {
      value = taken;
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

  const writes = /(?:^|[\n;])\s*process\.std(?:out|err)\.write\([^;\n]*\)\s*;?\s*$/;
  const show = (value) => {
    const told = memory.shown(value);
    globalThis._ = value;
    if (told) send({ event: 'view', ...told }, true);
    const text = util.inspect(value);
    process.stdout.write((value instanceof Error ? placesOfCells(text).join('\n') : text) + '\n');
    if (told) send({ event: 'view_end' }, true);
  };
  const explain = (error, where, words = 'Uncaught') => {
    try {
      return explained(error, where, words);
    } catch {
      process.stderr.write(`${words}: what was thrown cannot be shown\n`);
      return 'what was thrown cannot be shown';
    }
  };
  // Where lines of a cell stood before its types were taken away, by its name.
  const places = new Map();
  const placed = (line) =>
    line.replace(/(cell-\d+(?:\.run-\d+)?\.ts):(\d+)(?::(\d+))?/g, (all, url, row, column) => {
      const found = places.has(url) && places.get(url)(Number(row), Number(column || 1));
      return found ? `${url}:${column ? found.join(':') : found[0]}` : all;
    });
  // The lines of an error without those that the driver adds.
  const ours = /^\s+at .*(javascript_driver\.js|node:inspector|node:internal\/worker|nodejs\.internal|new Promise \(<anonymous>\)|Worker\.emit|MessagePort\.)/;
  const placesOfCells = (text) => text.split('\n').filter((line) => !ours.test(line)).map(placed);
  const importer = / imported from \S*javascript_driver\.js$/;
  const explained = (error, where, words) => {
    if (!(error instanceof Error)) {
      const text = util.inspect(error);
      process.stderr.write(`${words} ${text}\n`);
      return text.split('\n')[0].slice(0, 300);
    }
    const lines = placesOfCells(util.inspect(error));
    lines[0] = lines[0].replace(importer, '');
    if (error instanceof SyntaxError && where) lines.splice(1, 0, `    at ${placed(where)}`);
    process.stderr.write(`${words} ${lines.join('\n')}\n`);
    return `${error.name}: ${String(error.message).split('\n')[0].replace(importer, '')}`.slice(0, 300);
  };
  const streams = () => [process.stdout, process.stderr].filter((stream) => stream && stream._writableState);

  // Wait until a stream has handed on what it was given; false where nothing moves it any more. What meets a full
  // terminal is written by the loop, after the code that wrote it.
  const settled = async (stream) => {
    const { length, writing, corked } = stream._writableState;
    if (!length && !writing && !corked) return true;
    let sent = null;
    for (let still = 0; still < 3; still++) {
      await new Promise((resolve) => wait(resolve, 1));
      const state = stream._writableState;
      if (!state.length && !state.writing && !state.corked) return true;
      const handle = stream._handle || {};
      if (handle.bytesWritten !== sent || handle.writeQueueSize) still = 0;
      sent = handle.bytesWritten;
    }
    return false;
  };

  // Code that is ended in the middle of a write leaves a stream that waits for that write for ever; and what it would
  // do after the write, such as the next one, is not to be done any more. What no terminal took meanwhile, which may be
  // much, is not printed either.
  const mend = async (stream) => {
    if (discarding.delete(stream)) for (const name of ['_write', '_writev']) delete stream[name];
    const state = stream._writableState;
    if (state.writecb) state.writecb = () => {};
    const unsent = (state.buffered || []).slice(state.bufferedIndex);
    state.length -= unsent.reduce((sum, each) => sum + each.chunk.length, 0);
    state.pendingcb -= unsent.length;
    Object.assign(state, { buffered: [], bufferedIndex: 0 });
    if (!(await settled(stream))) free(stream);
  };
  const free = (stream) => {
    const state = stream._writableState;
    Object.assign(state, { writing: false, bufferProcessing: false, sync: true, needDrain: false });
    Object.assign(state, { corked: 0, length: 0, writelen: 0, writecb: null, pendingcb: 0 });
    Object.assign(state, { buffered: [], bufferedIndex: 0 });
  };

  // What code that is about to be ended still has in store may be much, and would be written as a whole once it has ended:
  // no terminal gets it any more. A program's own way of writing is left alone.
  const discarding = new Set();
  const discard = () => {
    for (const stream of streams()) {
      if (discarding.has(stream) || Object.hasOwn(stream, '_write') || Object.hasOwn(stream, '_writev')) continue;
      discarding.add(stream);
      stream._write = stream._writev = () => {};
    }
  };

  // Says so when a cell has put something in the place of the output, since later cells would be silent. What only
  // hands on what it is given, such as a counter, is left alone.
  const bare = { stream: process.stdout, write: process.stdout.write, log: console.log };
  let place = '';
  let since = 0;
  const elsewhere = () => {
    const { stdout } = process;
    if (stdout !== bare.stream) {
      if (stdout instanceof tty.WriteStream || !stdout) {
        Object.assign(bare, { stream: stdout, write: stdout && stdout.write });
        return ['', ''];
      }
      const name = typeof stdout.path === 'string' ? util.inspect(stdout.path) : 'another stream';
      // The console keeps the stream that it used first.
      return [name, "Object.defineProperty(process, 'stdout', { value: (console._stdout = new (require('tty').WriteStream)(1)) })"];
    }
    if (stdout.write !== bare.write && !hasHandedOn(stdout, () => stdout.write(''))) {
      return ['a function of its own', 'delete process.stdout.write'];
    }
    if (console.log !== bare.log && !hasHandedOn(stdout, () => console.log(''))) {
      return ['a console.log of its own', 'console.log = console.info'];
    }
    return ['', ''];
  };
  const hasHandedOn = (stream, write) => {
    const state = stream._writableState;
    if (state.writing || state.corked || state.length) return true;
    const was = Object.getOwnPropertyDescriptor(stream, '_write');
    let reached = false;
    stream._write = (chunk, encoding, done) => {
      reached = true;
      done();
    };
    try {
      write();
    } catch {
      // Whoever calls it sees the error, which is no silence.
      return true;
    } finally {
      if (was) Object.defineProperty(stream, '_write', was);
      else delete stream._write;
    }
    return reached;
  };
  const tellWhereOutputGoes = (url) => {
    const [now, wayBack] = elsewhere();
    if (now !== place) since = Number(/\d+/.exec(url)[0]);
    place = now;
    if (!now) return;
    fs.writeSync(terminal, `(${typed ? 'TypeScript' : 'JavaScript'}'s output goes to ${now} since cell ${since}; ${wayBack} brings it back.)\n`);
  };

  // A question that an interrupted run left open is nobody's: it would take the next one's answer and end its wait.
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
    for (const stream of [...discarding]) await mend(stream);
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
      const { code, place, problem, line } = typed ? untyped(run.source) : { code: run.source };
      if (problem) {
        process.stderr.write(`Uncaught ${problem}\n    at ${run.url}:${line}\n`);
        return ['failed', problem.slice(0, 300)];
      }
      if (typed) places.set(run.url, place);
      const evaluated = evaluation({
        expression: `${importsAsCalls(code)}\n//# sourceURL=${run.url}`,
        objectGroup: 'cell',
        replMode: true,
        awaitPromise: true,
      });
      const outcome = await waiting.settled(evaluated, stuck);
      if (!outcome) return run.outcome || ['interrupted', null];
      if (outcome.exceptionDetails) {
        where = `${run.url}:${outcome.exceptionDetails.lineNumber + 1}`;
        if (!outcome.exceptionDetails.exception) return ['failed', outcome.exceptionDetails.text];
        throw valueOf(outcome.exceptionDetails.exception);
      }
      let value = valueOf(outcome.result);
      if (util.types.isPromise(value)) value = await waiting.settled(value, stuck);
      // Whether a text was taken is of no use to anybody who only prints it.
      if (value === true && writes.test(run.source)) value = undefined;
      if (value !== undefined && !(value && ['Timeout', 'Immediate'].includes(value.constructor && value.constructor.name))) show(value);
      // Timers, requests and questions that the cell left under way belong to it, as they would to a script.
      await waiting.all();
      const { exitCode } = process;
      process.exitCode = undefined;
      return run.outcome || outcomeOf(exitCode);
    } catch (error) {
      if (run.outcome) return run.outcome;
      if (isExit(error)) return outcomeOf(error.code);
      if (util.types.isNativeError(error) && isTermination(error)) {
        endTimers();
        waiting.endThreads();
        await Promise.all(streams().map(mend));
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

  // A run is offered again until it is taken up; but it is taken up once.
  let current = null;
  let taken = '';
  // The run that was left last. It may be told again.
  let left = '';
  const worker = new Worker(__filename, { workerData: { folder, typed, events, terminal, heap: Math.round(getHeapStatistics().heap_size_limit / 1e6) }, stdout: false, stderr: false });
  const { begin, hold } = attend(process, worker);
  hidden.hold = (nonce) => {
    if (nonce && !(current && current.nonce === nonce)) return;
    hold();
    endTimers();
    discard();
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
        // What cannot be looked at is not told.
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
      if (left === leave) return tell();
      if (current) {
        current.waiting.end();
        current.waiting.endThreads();
      }
      current = null;
      endTimers();
      left = leave;
      worker.postMessage({ left });
      Promise.all(streams().map(mend)).then(tell);
      return;
    }
    if (taken === run.nonce) return;
    taken = run.nonce;
    current = run;
    run.waiting = begin();
    worker.postMessage({ started: run.nonce });
    serve(run);
  });

  // Whatever a program made of the language, its run ends.
  async function serve(run) {
    let outcome;
    try {
      outcome = await evaluate(run);
      for (const stream of streams()) await (discarding.has(stream) ? mend(stream) : settled(stream));
    } catch (error) {
      outcome = outcome || ['failed', explain(error)];
    }
    if (current !== run) return;
    try {
      tellWhereOutputGoes(run.url);
    } catch {
      // What stands there now cannot be asked.
    }
    current = null;
    worker.postMessage({ nonce: run.nonce, state: outcome[0], reason: outcome[1] });
  }
}

// How long a run waits for the main thread, in milliseconds, before it ends what holds that.
const TAKEN_UP = 1500;

function work({ folder, typed, events, terminal, heap }) {
  const { parentPort } = require('worker_threads');
  const inspector = require('inspector');
  const net = require('net');
  const session = new inspector.Session();
  session.connectToMainThread();
  let run = null;
  const named = new Map();

  const send = (event, mark) => {
    if (mark) event.mark = mark;
    fs.writeSync(events, JSON.stringify(event) + '\n');
    if (mark) fs.writeSync(terminal, `\x1b]6973;${mark}\x07`);
  };
  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  // Node.js leaves where nothing is left to wait for and what asks us is terminated too: so first it has us to wait for.
  // Timers would go on with what is ended. A termination that comes before that is done would end only that; one that
  // comes after the end of its run would end what is not to end.
  let holding = false;
  const terminate = (nonce = '') => {
    if (holding) return;
    holding = true;
    const mine = run;
    session.post('Runtime.evaluate', { expression: `__oi.hold('${nonce}')` }, () => {
      holding = false;
      if (run === mine) session.post('Runtime.terminateExecution', () => {});
    });
  };

  const scripts = new Map();
  session.on('Debugger.scriptParsed', ({ params }) => {
    if (params.url.startsWith('cell-')) scripts.set(params.scriptId, params.url);
  });
  session.on('Debugger.paused', ({ params }) => {
    if (params.reason === 'OOM' && !exhausted) endOutOfMemory();
    for (const frame of run ? params.callFrames : []) {
      if (scripts.get(frame.location.scriptId) === run.url) {
        const [line] = run.place(frame.location.lineNumber + 1, frame.location.columnNumber + 1);
        if (line !== run.line) send({ event: 'line', line: (run.line = line) });
        break;
      }
    }
    session.post('Debugger.resume', () => {});
  });

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
      session.post('Debugger.disable', () => session.post('Debugger.enable', () => {}));
    });
  }

  // Code that was taken back leaves its functions behind: other code of the same number gets another name.
  function nameOf(file, source) {
    const number = /\d+$/.exec(file)[0];
    for (let time = 1; ; time++) {
      const url = `cell-${number}${time > 1 ? `.run-${time}` : ''}.${typed ? 'ts' : 'js'}`;
      if (!named.has(url)) named.set(url, source);
      if (named.get(url) === source) return url;
    }
  }

  function begin(nonce, file) {
    const source = fs.readFileSync(file, 'utf8');
    run = { nonce, source, url: nameOf(file, source), line: 0, place: typed ? untyped(source).place : stays };
    const first = source.split('\n').findIndex((line) => line.trim() && !/^\s*\/\//.test(line));
    if (first >= 0) send({ event: 'line', line: (run.line = first + 1) });
    const mine = run;
    const waited = Date.now();
    const handOver = () => {
      if (run !== mine || mine.started) return;
      parentPort.postMessage({ run: { nonce, source, url: mine.url } });
      if (Date.now() - waited >= TAKEN_UP) {
        // What an earlier run left behind never lets the next one begin, such as promises that go on for ever.
        if (!mine.cleared) fs.writeSync(terminal, 'Ended what an earlier run left running\n');
        mine.cleared = true;
        terminate();
      }
      setTimeout(handOver, 200);
    };
    handOver();
    mine.sampler = setInterval(() => {
      if (!mine.pausing) {
        mine.pausing = true;
        session.post('Debugger.pause', () => {
          mine.pausing = false;
        });
      }
    }, 33);
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
  let asked = 0;
  const answers = new Map();
  const answered = (milliseconds) =>
    Promise.race([
      new Promise((resolve) => {
        answers.set(++asked, resolve);
        parentPort.postMessage({ ask: asked });
      }),
      pause(milliseconds).then(() => false),
    ]);
  async function interrupt(patience = 12) {
    const mine = run;
    if (!mine) return;
    mine.interrupted = true;
    // A pause and a termination at once end some versions of Node.js.
    clearInterval(mine.sampler);
    let idle = await answered(patience);
    for (let times = 0; times < 8 && !idle && run === mine; times++) {
      if (times % 3 === 0) terminate(mine.nonce);
      await pause(10);
      idle = run === mine && (await answered(150)) && (await answered(150));
    }
    // One that goes on waiting is enough, however often somebody asks.
    if (mine.awaited) return;
    mine.awaited = true;
    // What a system call holds, such as a child process, is terminated when that ends.
    while (!idle && run === mine) idle = (await answered(500)) && (await answered(500));
    // A child that the same interrupt ended lets the run end by itself, in a moment.
    await pause(30);
    // A termination that comes late takes with it what runs then: the driver's own end of the run, or this message. So
    // the message is sent until the run has ended.
    for (let times = 0; run === mine; times++) {
      parentPort.postMessage({ leave: mine.nonce });
      // What only looked idle, as between a write and the next, does not answer any more, and did not take the message.
      if (!(await answered(times < 8 ? 30 : 500)) && times < 8 && run === mine && !mine.left) terminate(mine.nonce);
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
      if (run && run.nonce === message.started) run.started = true;
    } else finish(message.nonce, message.state, message.reason);
  });

  const requests = new net.Socket({ fd: fs.openSync(path.join(folder, 'requests'), fs.constants.O_RDONLY | fs.constants.O_NONBLOCK) });
  let unread = '';
  requests.setEncoding('utf8');
  requests.on('data', (piece) => {
    const lines = (unread + piece).split('\n');
    unread = lines.pop();
    for (const line of lines) {
      const [word, nonce, file] = line.split(' ');
      if (word === 'run') begin(nonce, file);
      else if (word.startsWith('variable') || word === 'completions' || word === 'table') parentPort.postMessage({ remember: [word, nonce, file] });
      else interrupt();
    }
  });
  // Only the main thread runs what the program wants done at its end.
  requests.on('end', () => parentPort.postMessage({ end: true }));
  session.post('Debugger.enable', () => send({ event: 'ready', pid: process.pid }));
}
