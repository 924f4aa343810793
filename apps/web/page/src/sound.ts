// The sound of stones on the board, made by the browser.

let context: AudioContext | null = null;

/** A short knock; many stones sound deeper than one. Before the first press browsers make none. */
export function knock(stones: number): void {
  context ??= new AudioContext();
  const now = context.currentTime;
  const [tone, volume] = [context.createOscillator(), context.createGain()];
  tone.type = 'triangle';
  tone.frequency.setValueAtTime(420 - 18 * Math.min(stones, 10), now);
  tone.frequency.exponentialRampToValueAtTime(90, now + 0.06);
  volume.gain.setValueAtTime(0.25, now);
  volume.gain.exponentialRampToValueAtTime(0.001, now + 0.09);
  tone.connect(volume).connect(context.destination);
  tone.start(now);
  tone.stop(now + 0.1);
}
