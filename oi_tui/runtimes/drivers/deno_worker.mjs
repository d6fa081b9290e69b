// The driver's own thread inside Deno: reads requests, and speaks to the inspector of the main thread.

import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import fs from 'node:fs';
import { connect } from './deno_inspector.mjs';

const { folder } = workerData;
const events = fs.openSync(path.join(folder, 'events'), 'a');
const send = (event) => fs.writeSync(events, `${JSON.stringify(event)}\n`);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
// Ctrl+C is for the code that runs.
process.on('SIGINT', () => {});

let tell = () => {};
let asked = 0;
const answers = new Map();
const post = (method, params) =>
  new Promise((resolve) => {
    answers.set(++asked, resolve);
    tell(JSON.stringify({ id: asked, method, params }));
  });

// The run that is under way: { nonce, url, line }.
let run = null;
let contextId = 0;
// The names of scripts, by their number in the inspector.
const scripts = new Map();
function receive(data) {
  const { id, result, method, params } = JSON.parse(data);
  if (id) {
    answers.get(id)(result || {});
    answers.delete(id);
  } else if (method === 'Debugger.scriptParsed') {
    scripts.set(params.scriptId, params.url);
  } else if (method === 'Runtime.executionContextCreated') {
    contextId = contextId || params.context.id;
  } else if (method === 'Debugger.paused') paused(params.callFrames);
}

// Where the program is, told by itself. It answers as soon as it is between two steps.
let located = Promise.resolve();
function startSampling(mine) {
  let isAsking = false;
  const locate = async () => {
    const { result } = await post('Runtime.evaluate', { contextId, expression: '__oi.locate()', silent: true });
    isAsking = false;
    const line = result && result.value;
    if (line && run === mine && line !== mine.line) send({ event: 'line', line: (mine.line = line) });
  };
  mine.sampler = setInterval(() => {
    if (isAsking || pausing) return;
    isAsking = true;
    located = locate();
  }, 33);
}

// The program stands still: end what runs if that is wanted, and go on.
async function paused(frames) {
  pausing = 'paused';
  const urls = frames.map(({ location }) => scripts.get(location.scriptId) || '');
  // Elsewhere, a termination would end the driver, and the process with it.
  if ((isClearing || (run && run.interrupted)) && urls.some((url) => url.startsWith('cell-'))) {
    if (leaveOwnCode(urls[0])) return;
    // Timers that come again and again would leave no time to hear that the run is over.
    await post('Debugger.evaluateOnCallFrame', { callFrameId: frames[0].callFrameId, expression: '__oi.endTimers(); __oi.endTicks()' });
    // What ends in a callback of `process.nextTick` ends Deno with it.
    if (!frames.some(({ functionName }) => functionName === 'processTicksAndRejections')) {
      post('Runtime.terminateExecution');
      onTerminated(true);
    }
  }
  post('Debugger.resume');
  pausing = '';
}

// Deno's own code is called from outside of JavaScript, too: what ends there is caught, the program goes on, and a second
// termination is refused. So the program first leaves that code, unless it takes its time, and the pause comes there.
const OWN_CODE_TIMEOUT = 1000;
let ownCodeSince = 0;
function leaveOwnCode(url) {
  if (/^(?:cell-|file:|https?:|data:|blob:)/.test(url)) return false;
  ownCodeSince = ownCodeSince || Date.now();
  if (Date.now() - ownCodeSince > OWN_CODE_TIMEOUT) return false;
  pausing = 'set';
  pauseAsked = Date.now();
  post('Debugger.stepOut');
  return true;
}

// Pause the program as soon as it runs. One pause is had before another is asked for.
let pausing = '';
let pauseAsked = 0;
const pauseProgram = async () => {
  // What was set while nothing ran takes effect at the next call of a function. A loop that just goes on may call none.
  if (pausing && !(pausing === 'set' && Date.now() - pauseAsked > 100)) return;
  pausing = 'asked';
  await located;
  pauseAsked = Date.now();
  await post('Debugger.pause');
  if (pausing === 'asked') pausing = 'set';
};
// Code that the inspector itself calls must not be paused: it would never go on. So a pause is had before that, and what
// the inspector calls is over before a pause is asked for. One that does not come is given up: no cell would begin again.
const PAUSE_TIMEOUT = 2000;
const settlePause = async () => {
  const since = Date.now();
  while (pausing) if ((await isIdle()) && Date.now() - since > PAUSE_TIMEOUT) pausing = '';
};

const hold = async (number, objectId) => {
  await settlePause();
  const functionDeclaration = 'function (number, value) { __oi.hold(number, value) }';
  await post('Runtime.callFunctionOn', { objectId, functionDeclaration, arguments: [{ value: number }, { objectId }] });
};

// A value that is no object comes as it is; JSON has no words for some.
async function outcomeOf(number, { type, value, unserializableValue, objectId }) {
  if (objectId) {
    await hold(number, objectId);
    return {};
  }
  if (unserializableValue === undefined) return { value: type === 'undefined' ? undefined : value };
  return { value: unserializableValue.endsWith('n') ? BigInt(unserializableValue.slice(0, -1)) : Number(unserializableValue) };
}

async function evaluate(number, expression) {
  const mine = run;
  await settlePause();
  if (run !== mine || mine.interrupted) return { interrupted: true };
  const { result = {}, exceptionDetails } = await post('Runtime.evaluate', { contextId, expression, objectGroup: 'cell', replMode: true, awaitPromise: true });
  clearInterval(mine.sampler);
  if (!exceptionDetails) return outcomeOf(number, result);
  const { exception = {}, lineNumber, text } = exceptionDetails;
  const isSyntax = exception.className === 'SyntaxError' && !exceptionDetails.stackTrace;
  if (isSyntax) return { syntax: exception.description.split('\n')[0], line: lineNumber + 1 };
  if (!exception.type) return { syntax: text, line: lineNumber + 1 };
  return { error: true, ...(await outcomeOf(number, exception)) };
}

async function ask(question) {
  if (question.evaluate) return evaluate(question.asked, question.evaluate);
  if (question.names) return { names: (await post('Runtime.globalLexicalScopeNames', { executionContextId: contextId })).names || [] };
  await settlePause();
  const { result = {} } = await post('Runtime.evaluate', { contextId, expression: `[${question.reach.map((name) => `() => ${name}`)}]`, objectGroup: 'memory' });
  if (result.objectId) await hold(question.asked, result.objectId);
  await post('Runtime.releaseObjectGroup', { objectGroup: 'memory' });
  return {};
}

// Code that computes is terminated where it is seen to run. What only waits, so that the main thread answers, is left.
let pinged = 0;
let onPong = () => {};
let onTerminated = () => {};
const isIdle = () => {
  const number = ++pinged;
  const isSet = pausing === 'set';
  const answered = new Promise((resolve) => {
    onPong = (pong) => {
      if (pong !== number) return;
      // A pause would have come before this answer: another one took its place.
      if (isSet) pausing = '';
      resolve(true);
    };
  });
  parentPort.postMessage({ ping: number });
  return Promise.race([answered, pause(100).then(() => false)]);
};

// A run that was interrupted before it began. Code of an earlier one, such as what a server calls, may keep the main thread.
let early = '';
let isClearing = false;
async function interruptEarly(nonce) {
  early = nonce;
  isClearing = true;
  ownCodeSince = 0;
  do {
    const terminated = new Promise((resolve) => (onTerminated = resolve));
    pauseProgram();
    await Promise.race([terminated, pause(50)]);
  } while (!run && !(await isIdle()));
  isClearing = false;
}

async function interrupt(nonce) {
  const mine = run;
  if (!mine) return interruptEarly(nonce);
  if (mine.nonce !== nonce || mine.interrupted) return;
  mine.interrupted = true;
  ownCodeSince = 0;
  clearInterval(mine.sampler);
  // What waited may begin to compute meanwhile.
  while (run === mine) {
    const terminated = new Promise((resolve) => (onTerminated = resolve));
    pauseProgram();
    // What waits for its turn is lost with code that is terminated. So no message is sent before it is clear that none is.
    if ((await Promise.race([terminated, pause(50)])) || !(await isIdle())) continue;
    // A child that the same interrupt ended lets the run end by itself, in a moment.
    await pause(30);
    if (run === mine) parentPort.postMessage({ interrupt: nonce });
    await pause(30);
  }
}

parentPort.on('message', (message) => {
  if (message.begun) {
    const { nonce, url, source } = message.begun;
    run = { nonce, url, line: 0 };
    const first = source.split('\n').findIndex((line) => line.trim() && !/^\s*\/\//.test(line));
    if (first >= 0) send({ event: 'line', line: (run.line = first + 1) });
    if (nonce === early) interrupt(nonce);
  } else if (message.turned) {
    if (run && !run.interrupted) startSampling(run);
  } else if (message.ended) {
    if (run) clearInterval(run.sampler);
    run = null;
    post('Runtime.releaseObjectGroup', { objectGroup: 'cell' });
  } else if (message.pong) onPong(message.pong);
  else if (message.asked) ask(message).then((answer) => parentPort.postMessage({ answered: message.asked, answer }));
});

tell = await connect(workerData.inspector, receive);
await post('Debugger.enable');
await post('Runtime.enable');
await post('Runtime.disable');
const requests = await Deno.open(path.join(folder, 'requests'));
parentPort.postMessage({ ready: true });
const decoder = new TextDecoder();
let unread = '';
for await (const piece of requests.readable) {
  const lines = (unread + decoder.decode(piece, { stream: true })).split('\n');
  unread = lines.pop();
  for (const line of lines) {
    const [word, nonce, ...rest] = line.split(' ');
    const name = rest.length ? rest.join(' ') : undefined;
    if (word === 'interrupt') interrupt(nonce);
    else parentPort.postMessage({ request: [word, nonce, name] });
  }
}
process.exit();
