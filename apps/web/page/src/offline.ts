// Keeps what the page has loaded, so that it opens again without a network. The network comes first whenever it answers.

interface Waiting extends Event {
  waitUntil(promise: Promise<unknown>): void;
}
interface Fetching extends Waiting {
  request: Request;
  respondWith(response: Promise<Response>): void;
}

const CACHE = 'turnstone';
const FILES = ['./', 'page.js', 'worker.js', 'style.css', 'turnstone.wasm', 'icon.svg', 'manifest.webmanifest', 'icon-192.png'];

self.addEventListener('install', (event) => {
  (event as Waiting).waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
});

self.addEventListener('fetch', (event) => {
  const { request } = event as Fetching;
  const url = new URL(request.url);
  // Pages of runs are of the moment.
  const own = url.origin === location.origin && request.method === 'GET' && !url.pathname.includes('/runs');
  if (!own) return;
  (event as Fetching).respondWith(
    fetch(request).then(
      async (response) => {
        if (response.ok) await (await caches.open(CACHE)).put(request, response.clone());
        return response;
      },
      async (fault: unknown) => {
        const kept = await caches.match(request, { ignoreSearch: request.mode === 'navigate' });
        if (kept) return kept;
        throw fault;
      },
    ),
  );
});
