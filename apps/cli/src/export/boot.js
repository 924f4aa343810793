// Starts a page that is one file: what the page asks its server for is in the file itself, in base64, compressed or not.
(async () => {
  const files = new Map();
  for (const element of document.querySelectorAll('script[data-file]')) {
    const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
    const whole = new Response(bytes).body;
    const plain = 'gzip' in element.dataset ? whole.pipeThrough(new DecompressionStream('gzip')) : whole;
    files.set(element.dataset.file, { bytes: await new Response(plain).arrayBuffer(), type: element.type.slice(2) });
    element.remove();
  }
  const folder = new URL('.', document.baseURI).href;
  const href = (address) => new URL(address instanceof Request ? address.url : address, document.baseURI).href;
  // The file at an address beside the page.
  const at = (address) => files.get(href(address).slice(folder.length));
  const blob = ({ bytes, type }) => URL.createObjectURL(new Blob([bytes], { type }));
  const elsewhere = window.fetch;
  window.fetch = async (address, options) => {
    if (!href(address).startsWith(folder)) return elsewhere(address, options);
    const file = at(address);
    if (!file) return new Response(null, { status: 404 });
    return new Response(file.bytes, { headers: { 'content-type': file.type } });
  };
  const Elsewhere = window.Worker;
  window.Worker = class extends Elsewhere {
    constructor(address, options) {
      const file = at(address);
      // A page that is opened as a file starts no worker that is a module. The script imports nothing.
      if (file) super(blob(file));
      else super(address, options);
    }
  };
  // There is nothing to keep for later: the page is whole.
  if (navigator.serviceWorker) navigator.serviceWorker.register = () => Promise.reject(new TypeError('one file'));
  if (location.search === '') {
    const begun = location.pathname + document.body.dataset.begin;
    try {
      history.replaceState(null, '', begun);
    } catch {
      location.replace(begun);
      return;
    }
  }
  const style = document.createElement('style');
  style.textContent = await new Response(files.get('style.css').bytes).text();
  document.head.append(style);
  await import(blob(files.get('page.js')));
})().catch((error) => {
  const fault = document.getElementById('fault');
  fault.hidden = false;
  fault.textContent = `the page cannot start: ${error.message}`;
});
