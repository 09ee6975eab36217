/** The words on which something may be written back: the person's, never the model's judgement. */
import { cutsWord } from "./word_edges.ts";

/** What the setting `write-triggers` is without one. */
export const WRITE_TRIGGERS: readonly string[] = [
  "更新记忆",
  "写入记忆",
  "写回记忆",
  "保存记忆",
  "存入记忆",
  "同步记忆",
  "存档记忆",
  "更新一下记忆",
  "记住",
  "记下来",
  "记一下",
  "记下",
  "记录下来",
  "保存到记忆",
  "更新到记忆",
  "更新記憶",
  "寫入記憶",
  "保存記憶",
  "儲存記憶",
  "記住",
  "記下來",
  "記一下",
  "記錄下來",
  "update memory",
  "update the memory",
  "update your memory",
  "update my memory",
  "save memory",
  "save to memory",
  "save this to memory",
  "write to memory",
  "write this down",
  "write it down",
  "remember this",
  "remember that",
  "remember it",
  "commit this to memory",
  "note this down",
  "make a note",
];

/** What turns a trigger into its opposite. */
const NEGATED_ZH =
  /(?:(?<![特分个個区區级級辨])[别別]|(?<!要|不[得能可])不|[勿莫未]|(?<!有)[没沒]|无需|無需|停止|拒绝|拒絕|禁止)(?:要|用|必|想|愿意?|打算|准备|準備|需要?|应该?|應該?|能|可以?|得|许|許|准|该|該|到|有|再|去|会|會|急着|急著|急于|现在|現在|马上|馬上|自动|自動|主动|主動|擅自|随便|先|给我|給我|帮我|幫我|替我|让你|讓你){0,3}\s*$/u;
const NEGATED_EN =
  /(?:\b(?:do|does|did|should|need|would|must|can|could|will|shall|is|are|was|were|ca|wo)(?:n['’]?t|not| not)|\bnever|\bwithout|\bno need to|\bnot|\bstop|\brefuse to|\bforbidden to|\bavoid|\bno|\brather than|\binstead of)(?:\s+(?:you|ever|have to|need to|want to|want you to|yet|to|dare|please|just|automatically|even|bother to|go and))*\s*$/u;
/** What puts it off. */
const PUT_OFF =
  /(?:以后|以後|稍后|稍後|待会儿?|待會兒?|一会儿?|一會兒?|等会儿?|等會兒?|明天|下次|晚点|晚點|回头|回頭|改天)再\s*$|\b(?:before|unless|until) (?:you|we|i)\s*$/u;
/** What asks how, when or whether, or tells of somebody who does so. */
const TOLD =
  /(?:怎么|怎麼|怎样|怎樣|如何|为什么|為什麼|为何|什么时候|什麼時候|是否|要不要)(?:才能|才会|样)?\s*$|(?<![帮幫给給替为為跟和让讓叫请請])我(?:们|們)?(?:自己|已经|已經|已|都|也|会|會|刚|剛|刚刚|剛剛|才|一直)*\s*$|\b(?:how (?:to|do i|do you|can i|does it)|why (?:do|did|does) (?:you|i|we|it)|when (?:do|did|does) (?:you|i|we|it)|do you|did you|have you|if you|as you|i|we|they|he|she|who)(?: (?:still|also|all|always|already|can|even|last|ever|do|just))*\s*$/u;
/** What, with a question mark or particle behind, asks what is known. */
const ASKED = /(?:还|還|还能|還能|能|可|你|您|有没有|有沒有|you)\s*$/u;
const AS_QUESTION = /^\s*(?:了?[吗嗎么麼]|.*?(?:[吗嗎]\s*\??\s*$))/u;
const DONE = /^\s*(?:了[吗嗎么麼]|了?[没沒]有?)\s*(?:[?。!]|$)/u;
/** Words that end or go on in a trigger: to register, to mark, to take down a password. */
const PART_BEFORE = /[登标標笔筆书書传傳忘]$/u;
const PART_AFTER =
  /^(?:宿费|宿費|宿舍|院|午|密码|密碼|我的?(?:功能|按钮|按鈕|选项|選項|登录|登錄|复选框|勾选))/u;
/** A denial at the head of a clause holds for all of it, but not one of forgetting. */
const DENIED_CLAUSE =
  /(?:不要(?!忘)|(?<![特分区區个個级級性类類辨告离離])[别別](?!忘)|请勿|請勿|毋须|不用|不必|无须|無須|无需|無需|先不|不想|不该|不准|不许|(?:do not|don['’]?t|never)(?! forget)|no (?:reason|need) to|should(?: not|n['’]t))[^.。!?;,:]{0,40}$/u;
const DENIED_BEHIND =
  /^[吗嗎么麼]?[\s,?!。]*[就那先]?(?:不用|不必|不要|算了|免了)(?:了|啦|吧)?\s*(?:[。!,?]|$)|^[\s,?!.]*(?:no|nope|not now)\b/u;
const OF_A_DENIAL =
  /^[\s,:]*(?:不要|先别|[别別]|不用|don['’]?t|do not)[^。!?;]{0,10}(?:记忆|記憶|记下|记录|memory)/u;
const PUT_OFF_BEHIND = /^\s*(?:later|tomorrow|another time|next time|[以之]后再|下次再|稍后再)/u;
/** Who asks what it is, or builds such a thing, does not ask for it. */
const ASKED_WHAT =
  /(?:什么叫|什么是|啥叫|啥是|如何|why d(?:oes|id)|what (?:does|is)|how does)[^.。!?;,:]{0,12}$/u;
const TOLD_OF = /^(?:是什么|是啥|失败|失敗|出错|报错|的(?!时候))|^\s*fail/u;
const BUILT =
  /(?:实现|写|做|加|开发|修复?|改|测试|\b(?:fix|add|implement|build|create|write|test)\b)[^.。!?;,:]{0,20}$/u;
const BUILT_THING =
  /^[^。!?;,:]{0,14}(?:功能|按钮|按鈕|选项|選項|复选框|接口|模块|\b(?:button|feature|checkbox|bug|option)\b)/u;
/** More than a clause has is not looked at. */
const LOOKED_BACK_CHARS = 60;

/**
 * Returns the trigger that somebody's words hold.
 *
 * Case, width and blanks do not count; a trigger that is negated (`不用更新记忆`, `don't remember
 * this`), or asks what is remembered (`你记住了吗`), is none.
 *
 * @example
 * ```ts
 * import { equal } from "node:assert/strict";
 *
 * equal(findTrigger("好的，更新记忆", ["更新记忆"]), "更新记忆");
 * equal(findTrigger("先不用更新记忆", ["更新记忆"]), undefined);
 * ```
 */
export function findTrigger(words: string, triggers: readonly string[]): string | undefined {
  const said = fold(words);
  return triggers.find((trigger) => {
    const wanted = fold(trigger);
    if (wanted === "") return false;
    for (let at = said.indexOf(wanted); at >= 0; at = said.indexOf(wanted, at + 1)) {
      if (isMeant(said, at, wanted.length)) return true;
    }
    return false;
  });
}

function isMeant(said: string, at: number, length: number): boolean {
  const before = said.slice(Math.max(0, at - LOOKED_BACK_CHARS), at);
  const after = said.slice(at + length).split(/[。!;,]/)[0] ?? "";
  const rest = said.slice(at + length, at + length + LOOKED_BACK_CHARS);
  if (isInsideWord(said, at, length)) return false;
  const isDenied = DENIED_CLAUSE.test(before) || DENIED_BEHIND.test(rest) ||
    OF_A_DENIAL.test(rest) || PUT_OFF_BEHIND.test(rest);
  const isTold = ASKED_WHAT.test(before) || TOLD_OF.test(rest) ||
    BUILT.test(before) && BUILT_THING.test(rest);
  if (isDenied || isTold) return false;
  if ([NEGATED_ZH, NEGATED_EN, PUT_OFF, TOLD].some((it) => it.test(before))) return false;
  const isQuestion = AS_QUESTION.test(after) || after.includes("?");
  return !DONE.test(after) && !(ASKED.test(before) && isQuestion);
}

/** Of either language. */
function isInsideWord(said: string, at: number, length: number): boolean {
  return cutsWord(said, at, length) || PART_BEFORE.test(said.slice(0, at)) ||
    PART_AFTER.test(said.slice(at + length));
}

function fold(text: string): string {
  const plain = text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
  // Chinese parts no words: a blank there is an accident.
  return plain.replace(/(?<=\p{Script=Han}) (?=\p{Script=Han})/gu, "");
}
