// node browser.js CHROMIUM FOLDER [SCREENSHOTS] — reports as a person meets them, in a headless browser, through its
// debugging pipe. FOLDER holds the pages that report_test.cpp has made: abb, s5, any, fused, drifting, cascade, hostile,
// wrong (abb with a planted certificate), other (abb with another claim than its certificate's), and of trained models run
// (refuted, another automaton), cell (refuted; acts by no matrices), gates (refuted, by cosines), checkpoint (proved) and
// forged (its certificate with a planted digit). Prints every fact that is not as it should be; exit status 1 then.
"use strict";
const {spawn} = require("child_process");
const fs = require("fs"), path = require("path"), os = require("os");
const {pathToFileURL} = require("url");

const [program, folder, screenshots] = process.argv.slice(2);
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "krohn-browser-"));
const browser = spawn(program, ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                                "--disable-background-networking", "--disable-component-update", `--user-data-dir=${profile}`, "about:blank"],
                      {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
const [, , , toBrowser, fromBrowser] = browser.stdio;

let number = 0, buffer = "";
const waiting = new Map(), listeners = [];
fromBrowser.setEncoding("utf8");
fromBrowser.on("data", text => {
  buffer += text;
  for (let end; (end = buffer.indexOf("\0")) >= 0; buffer = buffer.slice(end + 1)) {
    const message = JSON.parse(buffer.slice(0, end));
    if (message.id === undefined) listeners.forEach(listener => listener(message));
    else waiting.get(message.id)(message);
  }
});
const send = (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
  waiting.set(++number, ({result, error}) => error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result));
  toBrowser.write(JSON.stringify({id: number, method, params, sessionId}) + "\0");
});

const failures = [];
let facts = 0;
function check(condition, what) {
  ++facts;
  if (!condition) failures.push(what);
}
const equal = (found, expected, what) => check(found === expected, `${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
const begins = (found, expected, what) => check(String(found).startsWith(expected), `${what}: ${JSON.stringify(found)} does not begin with ${JSON.stringify(expected)}`);

/// One tab with the noise it makes.
class Tab {
  static async open() {
    const tab = new Tab();
    const {targetId} = await send("Target.createTarget", {url: "about:blank"});
    ({sessionId: tab.session} = await send("Target.attachToTarget", {targetId, flatten: true}));
    tab.noise = [], tab.requests = [];
    listeners.push(({method, params, sessionId}) => {
      if (sessionId !== tab.session) return;
      if (method === "Runtime.exceptionThrown") tab.noise.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
      if (method === "Log.entryAdded") tab.noise.push(params.entry.text);
      if (method === "Page.javascriptDialogOpening") tab.noise.push(`dialog: ${params.message}`);
      if (method === "Network.requestWillBeSent") tab.requests.push(params.request.url);
      if (method === "Page.loadEventFired") tab.loaded?.();
    });
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await tab.call(`${domain}.enable`);
    return tab;
  }
  call(method, params) { return send(method, params, this.session); }
  async show(name, fragment = "") {
    this.noise = [], this.requests = [];
    await this.navigate("about:blank");  // another fragment alone would not load the page again
    await this.navigate(pathToFileURL(path.join(folder, `${name}.html`)).href + fragment);
    equal(await this.ask("document.getElementById('broken').hidden"), true, `${name}: is not broken`);
  }
  async navigate(url) {
    const loaded = new Promise(resolve => { this.loaded = resolve; });
    await this.call("Page.navigate", {url});
    await loaded;
  }
  async ask(expression) {
    const {result, exceptionDetails} = await this.call("Runtime.evaluate", {expression, awaitPromise: true, returnByValue: true});
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value;
  }
  text(id) { return this.ask(`document.getElementById(${JSON.stringify(id)}).textContent`); }
  click(id) { return this.ask(`document.getElementById(${JSON.stringify(id)}).click()`); }
  async type(id, text) {
    await this.ask(`document.getElementById(${JSON.stringify(id)}).focus(); document.getElementById(${JSON.stringify(id)}).select()`);
    if (text === "") await this.key("Delete", 46);
    else await this.call("Input.insertText", {text});
  }
  async key(key, code) {
    await this.call("Input.dispatchKeyEvent", {type: "rawKeyDown", key, windowsVirtualKeyCode: code});
    await this.call("Input.dispatchKeyEvent", {type: "keyUp", key, windowsVirtualKeyCode: code});
  }
  lit() { return this.ask("[...document.querySelectorAll('#picture g.lit > title')].map(t => t.textContent).join()"); }
  async look(name, full = true) {
    if (!screenshots) return;
    const {data} = await this.call("Page.captureScreenshot", {format: "png", captureBeyondViewport: full});
    fs.writeFileSync(path.join(screenshots, `${name}.png`), Buffer.from(data, "base64"));
  }
  async screen(width, height) { await this.call("Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile: width < 600}); }
  async dark(isDark) { await this.call("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value: isDark ? "dark" : "light"}]}); }
}

async function stepping(tab) {
  await tab.show("abb");
  begins(await tab.text("recheck"), "Re-checked in this page: proved for words of every length, fp32", "abb: re-check");
  equal(await tab.text("title"), "regex:(a|b)*abb", "abb: title");
  for (const id of ["cascade", "eggbox"]) equal(await tab.ask(`document.querySelectorAll('#${id} svg').length`), 1, `abb: ${id}`);
  await tab.type("word", "abb");
  begins(await tab.text("position"), "After 3 of 3 letters (b): state 3, accept. The network agrees.", "abb: typed");
  equal(await tab.lit(), "3", "abb: lit state");
  await tab.click("back");
  begins(await tab.text("position"), "After 2 of 3 letters (b): state 2, reject. The network agrees.", "abb: one letter back");
  equal(await tab.lit(), "2", "abb: lit state after one letter back");
  await tab.click("first");
  await tab.click("back");
  begins(await tab.text("position"), "After 0 of 3 letters: state 0", "abb: no letter before the first");
  equal(await tab.ask("document.getElementById('first').getAttribute('aria-disabled')"), "true", "abb: ⏮ at the beginning");
  await tab.click("last");
  await tab.click("forward");
  begins(await tab.text("position"), "After 3 of 3", "abb: no letter after the last");
  equal(await tab.ask("document.querySelectorAll('#network .heat rect').length"), 4, "abb: cells of the state matrix");
  equal(await tab.ask("document.querySelectorAll('#trace tbody tr').length"), 4, "abb: rows of the trace");

  await tab.type("word", "abc");
  begins(await tab.text("word-problem"), "character 3 of the word, “c”, is not a letter", "abb: an unknown letter");
  begins(await tab.text("position"), "After 3 of 3 letters (b): state 3", "abb: the word before stays");
  await tab.type("word", "");
  begins(await tab.text("position"), "After 0 of 0 letters: state 0, reject. The network agrees.", "abb: the empty word");
  equal(await tab.text("word-problem"), "", "abb: no problem");
  await tab.type("word", "a".repeat(6000));
  begins(await tab.text("word-problem"), "this page takes words of up to 5000 letters", "abb: too long a word");
  equal(tab.noise.join(), "", "abb: noise");
  check(tab.requests.every(url => url.startsWith("file:") || url.startsWith("about:")) && tab.requests.filter(url => url.startsWith("file:")).length === 1, `abb: requests ${tab.requests}`);
}

async function keyboardAndAddress(tab) {
  await tab.show("abb", "#word=abab&at=2");
  begins(await tab.text("position"), "After 2 of 4 letters (b): state 2", "permalink: position");
  equal(await tab.ask("document.getElementById('word').value"), "abab", "permalink: word");
  await tab.key("ArrowRight", 39);
  begins(await tab.text("position"), "After 3 of 4 letters (a): state 1", "keyboard: right");
  equal(await tab.ask("location.hash"), "#word=abab&at=3", "permalink: follows");
  await tab.key("ArrowLeft", 37);
  await tab.key("ArrowLeft", 37);
  begins(await tab.text("position"), "After 1 of 4", "keyboard: left");
  await tab.ask("document.getElementById('picture').focus()");
  await tab.key("End", 35);
  begins(await tab.text("position"), "After 4 of 4", "keyboard: End on the picture");
  await tab.key("Home", 36);
  begins(await tab.text("position"), "After 0 of 4", "keyboard: Home on the picture");
  await tab.ask("document.getElementById('word').focus()");
  await tab.key("ArrowRight", 39);
  begins(await tab.text("position"), "After 0 of 4", "keyboard: the word box keeps its arrows");
  await tab.ask("location.hash = '#word=b&at=1'");
  await tab.ask("new Promise(resolve => setTimeout(resolve, 50))");
  begins(await tab.text("position"), "After 1 of 1 letters (b)", "permalink: another fragment");
  for (const [fragment, expected] of [["#word=abb&at=99", "After 3 of 3"], ["#word=abb&at=-1", "After 0 of 3"], ["#word=abb&at=x", "After 3 of 3"], ["#word=&at=0", "After 0 of 0"]]) {
    await tab.show("abb", fragment);
    begins(await tab.text("position"), expected, `permalink: ${fragment}`);
  }
  await tab.show("abb", "#word=a%3Cb&at=1");
  begins(await tab.text("word-problem"), "character 2 of the word, “<”", "permalink: an unknown letter");
  const unlabelled = await tab.ask(`[...document.querySelectorAll('button, input')].filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).length`);
  equal(unlabelled, 0, "buttons and inputs without a name");
}

async function otherPages(tab) {
  await tab.show("wrong");
  begins(await tab.text("recheck"), "NOT established: line ", "wrong: re-check");
  equal(await tab.ask("document.getElementById('recheck').classList.contains('bad')"), true, "wrong: in red");
  begins(await tab.text("claim"), "NOT established by this page’s checker: proved", "wrong: the verdict is taken back");
  await tab.show("other");
  begins(await tab.text("recheck"), "NOT established: the certificate says \"proved\", and the verdict \"refuted\"", "other claim: re-check");
  await tab.show("drifting");
  begins(await tab.text("claim"), "refuted: wrong on", "drifting: claim");
  begins(await tab.text("recheck"), "Re-checked in this page: refuted by a word of", "drifting: re-check");
  check((await tab.text("position")).endsWith(": wrong."), `drifting: begins with the failing word: ${await tab.text("position")}`);
  check(await tab.ask("document.querySelectorAll('#trace tr.wrong').length") > 0, "drifting: wrong rows");
  await tab.look("drifting");
  await tab.show("cascade");
  check(await tab.ask("document.querySelectorAll('#network .layer').length") > 1, "cascade: layers");
  begins(await tab.text("recheck"), "Re-checked in this page: proved", "cascade: re-check");
  await tab.look("cascade");
  await tab.show("any");
  begins(await tab.text("recheck"), "This page does not re-check \"proved, exact in any order\"; krohn check does.", "any order: re-check");
  check((await tab.text("position")).endsWith("The network agrees."), "any order: steps");
  await tab.show("fused");
  begins(await tab.text("alone"), "this page does not compute in the arithmetic fp64+fma, as krohn run does; the page steps the automaton alone.", "fp64+fma: the automaton alone");
  await tab.show("hostile");
  equal(await tab.ask("String(globalThis.hacked)"), "undefined", "hostile: no script of a name runs");
  equal(tab.noise.join(), "", "hostile: noise");
  equal(await tab.ask("document.querySelectorAll('img, iframe, script').length"), 2, "hostile: elements that names made");
  check((await tab.ask("document.body.innerText")).includes("<img src=x onerror=hacked=1>"), "hostile: the name is shown as it is");
}

async function trainedModels(tab) {
  await tab.show("run");
  begins(await tab.text("claim"), "refuted: wrong on", "run: claim");
  begins(await tab.text("recheck"), "Re-checked in this page: refuted by a word of", "run: re-check");
  check((await tab.text("position")).endsWith(": wrong."), `run: begins with the failing word: ${await tab.text("position")}`);
  check(await tab.ask("document.querySelectorAll('#network .logits tr').length") === 2, "run: a bar for each logit");
  check(await tab.ask("document.querySelectorAll('#trace tr.wrong').length") === 1, "run: the wrong row");
  for (const id of ["accuracy", "learned", "spectrum", "margins"]) equal(await tab.ask(`document.getElementById('${id}').hidden`), false, `run: ${id}`);
  check(await tab.ask("document.querySelectorAll('#learned .differs').length") > 0, "run: differing edges are marked");
  check(await tab.ask("document.querySelectorAll('#accuracy .plot svg, #spectrum .plot svg').length") === 2, "run: plots");
  begins(await tab.text("accuracy-parts"), "No sampled length was right throughout", "run: horizon");
  check((await tab.text("exports")).includes("Save TikZ"), "run: exports");
  equal(tab.noise.join(), "", "run: noise");
  await tab.look("run");
  await tab.show("cell");
  begins(await tab.text("recheck"), "Re-checked in this page: refuted by a word of", "cell: re-check");
  check((await tab.text("position")).endsWith(": wrong."), `cell: begins with the failing word: ${await tab.text("position")}`);
  check((await tab.text("spectrum-parts")).includes("act by no matrices"), "cell: no eigenvalues");
  await tab.show("gates");
  begins(await tab.text("recheck"), "Re-checked in this page: refuted by a word of", "gates: re-check");
  await tab.show("forged");
  begins(await tab.text("recheck"), "NOT established: ", "forged: re-check");
  for (const [width, isDark] of [[1280, false], [360, true]]) {
    await tab.screen(width, 740);
    await tab.dark(isDark);
    await tab.show("checkpoint");
    begins(await tab.text("recheck"), "Re-checked in this page: proved for words of every length, held against", "checkpoint: re-check");
    check((await tab.text("position")).endsWith("The model agrees."), "checkpoint: steps");
    equal(await tab.ask("document.querySelectorAll('#learned .differs').length"), 0, "checkpoint: nothing differs");
    const overflow = await tab.ask("document.documentElement.scrollWidth");
    check(overflow <= width, `checkpoint: the page is ${overflow} wide, the screen ${width}`);
    await tab.look(`checkpoint-${width}`);
  }
  await tab.screen(1280, 900);
  await tab.dark(false);
}

/// WCAG: the contrast of the text and its background.
const CONTRAST = `(() => {
  const light = text => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  return Math.min(...['about', 'claim', 'position', 'word-help', 'title'].map(id => light(getComputedStyle(document.getElementById(id)).color)).map(ink => Math.max(ink, paper) / Math.min(ink, paper)));
})()`;

async function looks(tab) {
  for (const [width, height, isDark] of [[1280, 900, false], [1280, 900, true], [360, 740, false], [360, 740, true]]) {
    await tab.screen(width, height);
    await tab.dark(isDark);
    for (const name of ["abb", "s5"]) {
      await tab.show(name);
      const what = `${name}, ${width} wide, ${isDark ? "dark" : "light"}`;
      const [r] = (await tab.ask("getComputedStyle(document.body).backgroundColor")).match(/\d+/g);
      check(isDark ? r < 60 : r > 200, `${what}: background ${r}`);
      check(await tab.ask(CONTRAST) >= 4.5, `${what}: contrast ${await tab.ask(CONTRAST)}`);
      const overflow = await tab.ask("document.documentElement.scrollWidth");
      check(overflow <= width, `${what}: the page is ${overflow} wide`);
      await tab.look(`${name}-${width}-${isDark ? "dark" : "light"}`);
    }
  }
  await tab.screen(1280, 900);
  await tab.dark(false);
}

/// The colour of the lit state, wherever in its group the shape is.
const LIT_COLOUR = "getComputedStyle(document.querySelector('#picture g.lit ellipse')).stroke + getComputedStyle(document.querySelector('#picture g.lit ellipse')).fill";

/// Measures S_5 and a checkpoint in seconds of the page's own thread, so that a busy machine does not count.
async function speed(tab) {
  await tab.call("Performance.enable", {timeDomain: "threadTicks"});
  const spent = async () => (await tab.call("Performance.getMetrics")).metrics.find(({name}) => name === "TaskDuration").value;
  for (const name of ["s5", "checkpoint"]) {
    await tab.show(name);
    begins(await tab.text("recheck"), "Re-checked in this page: proved for words of every length", `${name}: re-check`);
    check((await tab.ask(LIT_COLOUR)).includes("rgb(255, 176, 0)"), `${name}: the state is lit: ${await tab.ask(LIT_COLOUR)}`);
    const steps = 60, start = await spent();
    await tab.ask(`(async () => {
      for (let i = 0; i < ${steps}; ++i) {
        document.getElementById(i % 12 < 6 ? 'back' : 'forward').click();
        await new Promise(requestAnimationFrame);
      }
    })()`);
    const stepped = await spent();
    await tab.click("recheck-again");
    const step = (stepped - start) / steps * 1000, recheck = (await spent() - stepped) * 1000;
    console.log(`${name}: a step ${step.toFixed(1)} ms, the re-check ${recheck.toFixed(0)} ms`);
    check(step < 16, `${name}: a step takes ${step} ms`);
    check(recheck < 2000, `${name}: the re-check takes ${recheck} ms`);
  }
}

(async () => {
  const tab = await Tab.open();
  for (const part of [stepping, keyboardAndAddress, otherPages, trainedModels, looks, speed]) await part(tab);
})().catch(error => failures.push(error.stack)).then(async () => {
  const gone = new Promise(resolve => browser.on("exit", resolve));
  send("Browser.close").catch(() => {});
  await gone;
  try {
    fs.rmSync(profile, {recursive: true, force: true, maxRetries: 20, retryDelay: 100});
  } catch {
    // its last processes may still write there; the folder is a temporary one
  }
  failures.forEach(failure => console.log(failure));
  console.log(`${facts} facts, ${failures.length} wrong`);
  process.exit(failures.length > 0 ? 1 : 0);
});
setTimeout(() => { console.log("the browser does not answer"); browser.kill(); process.exit(1); }, 900000).unref();
