// Follows a run: asks for its sections every three seconds, and replaces what has changed.
const note = document.getElementById('follow');
let tag = '';
async function follow() {
  try {
    const response = await fetch(location.pathname.replace(/\/$/, '') + '/live', tag ? { headers: { 'If-None-Match': tag }, cache: 'no-store' } : { cache: 'no-store' });
    if (response.status === 304) return;
    if (!response.ok) throw new Error(String(response.status));
    tag = response.headers.get('ETag') ?? '';
    const { header, sections } = await response.json();
    document.getElementById('standing').innerHTML = header;
    for (const [id, html] of Object.entries(sections)) {
      const section = document.getElementById(id);
      if (!section) return location.reload();
      const kept = [...section.querySelectorAll(':scope > h2, :scope > .lead')];
      const holder = document.createElement('template');
      holder.innerHTML = html;
      section.replaceChildren(...kept, holder.content);
    }
    note.textContent = 'following';
  } catch {
    note.textContent = 'the server does not answer';
  }
}
setInterval(() => { if (!document.hidden) follow(); }, 3000);
