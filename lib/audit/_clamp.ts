/** Keeps a share within 0..1. */
export function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}
