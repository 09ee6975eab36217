/** Tells texts of one language from those of the other. */
import { measureHanShare } from "@/lib/index/han_share.ts";
import { runAtOnce } from "@/lib/seams.ts";

/** From which share of Chinese on a text counts as Chinese. */
const CHINESE_SHARE = .3;

export function isChinese(text: string): boolean {
  return runAtOnce(measureHanShare([text])) > CHINESE_SHARE;
}
