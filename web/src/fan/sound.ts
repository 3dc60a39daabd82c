// Two soft tones, for who asked for them. A browser lets a page sound only after it was
// asked to, by the reader's own hand: that is the box.
const box = document.getElementById("sound") as HTMLInputElement | null;
let sounds: AudioContext | null = null;

box?.addEventListener("change", () => {
  sounds ||= new AudioContext();
  if (box.checked) void sounds.resume().then(chime);
});

export function chime(): void {
  if (!sounds || !box?.checked) return;
  for (const [i, hertz] of [660, 880].entries()) {
    const tone = sounds.createOscillator(), loud = sounds.createGain(), at = sounds.currentTime + i * 0.25;
    tone.frequency.value = hertz;
    loud.gain.setValueAtTime(0.15, at);
    loud.gain.exponentialRampToValueAtTime(0.001, at + 0.6);
    tone.connect(loud).connect(sounds.destination);
    tone.start(at);
    tone.stop(at + 0.6);
  }
}
