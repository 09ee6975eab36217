/**
 * Values that exclude each other, by what they are values of: a few everyday matters about which
 * people have a preference, in both languages. They are no list of what may conflict, only of what
 * words alone cannot tell, as opposites stand in the same places and look alike to any model.
 */

/** The values that it can have, each as a pattern. */
type Matter = readonly RegExp[];

/** Said of anything: how much, in which order, when, by whom. */
const ANY_MATTERS: readonly Matter[] = [
  [
    /多(?![少个])|尽量长|越长|长句|长文|详细|详尽|展开|铺开|\b(?:more|many|lots|plenty|long(?:er)?|detailed|thorough|verbose|in (?:full|depth|detail)|full background)\b/,
    /(?<![多减不])少(?![于])|越短|短句|简短|简洁|简明|精简|精炼|\b(?:less|few(?:er)?|rarely|seldom|sparingly|short(?:er)?|brief(?:ly)?|concise|terse|minimal|under \w+ (?:lines|words))\b/,
  ],
  [
    /先(?!考虑|前)|首先|开头就|一开始|\b(?:first|up ?front|begin with|start with|at the (?:start|top|beginning))\b/,
    /最后|末尾|结尾|放到后面|\b(?:last of all|(?:comes?|goes?|put \w+|leave \w+) last|finally|at the (?:end|bottom)|only then)\b/,
  ],
  [
    /口语|随意|轻松|活泼|幽默|亲切|你(?!们)|\b(?:informal|casual|colloquial|friendly|playful|relaxed|humou?r\w*|first names?)\b/,
    /书面|正式|严谨|严肃|庄重|敬语|您|\b(?:formal|official|academic|serious|solemn|businesslike|surnames?)\b/,
  ],
  [
    /中文|汉语|普通话|\b(?:chinese|mandarin)\b/,
    /英文|英语|\benglish\b/,
    /日语|日文|\bjapanese\b/,
    /法语|\bfrench\b/,
    /德语|\bgerman\b/,
    /西班牙语|\bspanish\b/,
  ],
  [
    /早上|早晨|清晨|上午|\b(?:mornings?|before (?:lunch|noon)|early)\b/,
    /下午|\bafternoons?\b/,
    /晚上|夜里|深夜|睡前|\b(?:evenings?|nights?|late)\b/,
  ],
  [
    /每天|每日|天天|\b(?:daily|every day|each day)\b/,
    /每周|\b(?:weekly|every week|once a week)\b/,
    /每月|\b(?:monthly|every month|once a month)\b/,
    /(?:只|仅|就)\S{0,3}一次|\b(?:only once|one (?:reminder|time)|just once)\b/,
  ],
  [
    /电话|语音|\b(?:phone|calls?|voice)\b/,
    /文字|打字|\b(?:texts?|written messages?|in writing)\b/,
    /邮件|邮箱|\be-?mails?\b/,
  ],
  [/手动|手工|亲自|\b(?:manual(?:ly)?|by hand)\b/, /自动|\bautomatic(?:ally)?\b|\bauto-?\w+/],
  [
    /一次(?:只|就)?\S{0,2}一|逐[一个]|单线|\b(?:one (?:thing|task|project|topic) at a time|single|sequential(?:ly)?)\b/,
    /并行|同时|多线|[两二三四五几多]个\S{0,4}一起|\b(?:parallel|multitask\w*|several|at once|simultaneous(?:ly)?|multiple)\b/,
  ],
  [/公开|开源|\b(?:public(?:ly)?|open[- ]source)\b/, /私有|私密|保密|\b(?:private|confidential)\b/],
  [
    /列表|要点|分点|条目|\b(?:bullet\w*|lists?)\b/,
    /段落|成段|连贯|\b(?:prose|paragraphs?)\b/,
    /表格|\btables?\b/,
  ],
  [
    /先问|询问|征求|同意|确认|审批|\b(?:ask|confirm|approval|permission|check with me)\b/,
    /直接(?:改|做|动手|执行|提交|跑)|自行|不用问|\b(?:just (?:do|run|go|fix|make)|go ahead|without asking|on your own)\b/,
  ],
  [
    /保留|留下|\b(?:keep|retain|preserve)\b/,
    /删除|删掉|去掉|\b(?:remove|delete|drop|discard)\b/,
  ],
  [
    /单独|独自|一个人|安静|\b(?:alone|quiet|silence|solo)\b/,
    /结伴|一起|热闹|\b(?:together|pair|in company)\b/,
  ],
  [
    /马上|立即|立刻|尽快|及时|随时|\b(?:immediately|right away|asap|instantly|at any time|whenever)\b/,
    /稍后|慢慢|不急|集中|汇总|攒|\b(?:later|batch\w*|digest|once a day|wait until)\b/,
  ],
  [/本地|\blocal(?:ly)?\b/, /云端|云上|云服务|远程|\b(?:cloud|remote(?:ly)?)\b/],
  [
    /纸质|纸上|打印|手写|\b(?:paper|printed|handwritten)\b/,
    /电子版?|\b(?:digital(?:ly)?|on screen|pdf)\b/,
  ],
  [/严格|\bstrict(?:ly)?\b/, /宽松|\b(?:loose(?:ly)?|lenient)\b/],
  [/同步|\bsynchronous(?:ly)?\b/, /异步|\basync(?:hronous(?:ly)?)?\b/],
  [
    /打开|开启|开着|\b(?:enabled?|(?:turn|switch|keep)\w*(?: \w+)? on)\b/,
    /关闭|关掉|关着|\b(?:disabled?|(?:turn|switch|keep)\w*(?: \w+)? off)\b/,
  ],
];

/** Matters of their own: who names one of these values speaks of nothing else. */
const OWN_MATTERS: readonly Matter[] = [
  [
    /年[-/.]?月[-/.]?日|\b(?:yyyy-mm-dd|iso 8601|year first)\b/,
    /日[-/.]月[-/.]年|\b(?:dd[/.-]mm[/.-]yy\w*|day first)\b/,
    /月[-/.]日[-/.]年|\b(?:mm[/.-]dd[/.-]yy\w*|month first)\b/,
  ],
  [/美式|\b(?:american|us) (?:english|spelling)\b/, /英式|\b(?:british|uk) (?:english|spelling)\b/],
  [/全角|\bfull-?width\b/, /半角|\bhalf-?width\b/],
  [/单数|\bsingular\b/, /复数|\bplural\b/],
  [/简体|\bsimplified\b/, /繁体|\btraditional\b/],
  [/制表符|\btabs?\b/, /空格|\bspaces?\b/],
  [/大写|\b(?:upper ?case|capitals?)\b/, /小写|\blower ?case\b/],
  [/驼峰|\bcamel ?case\b/, /下划线|\bsnake[_ ]?case\b/, /连字符|短横线|\bkebab[- ]?case\b/],
  [/单引号|\bsingle quotes?\b/, /双引号|\bdouble quotes?\b/],
  [/公里|千米|\b(?:km|kilomet\w+|metric)\b/, /英里|\b(?:miles?|imperial)\b/],
  [/摄氏|\bcelsius\b/, /华氏|\bfahrenheit\b/],
  [/公斤|千克|\b(?:kg|kilos?|kilograms?)\b/, /英磅|磅|\b(?:pounds|lbs?)\b/],
  [/人民币|\b(?:cny|rmb|yuan)\b/, /美元|\b(?:usd|dollars?)\b/, /欧元|\b(?:eur|euros?)\b/],
  [/12 ?小时制|上午下午|\b(?:12-hour|am and pm|am\/pm)\b/, /24 ?小时制|\b24-hour\b/],
  [/深色|暗色|夜间模式|\bdark\b/, /浅色|亮色|白底|\blight\b/],
  [/第一人称|\bfirst[- ]person\b/, /第二人称|\bsecond[- ]person\b/, /第三人称|\bthird[- ]person\b/],
  [/主动(?:语态|句|告诉)|\bactive voice\b/, /被动(?:语态|句)|\bpassive voice\b/],
  [/吃素|素食|\b(?:vegetarian|vegan)\b/, /吃肉|荤|\bmeat\b/],
];

const MATTERS = [...OWN_MATTERS, ...ANY_MATTERS];

const NONE: ReadonlySet<number> = new Set();

/** Returns what a text says of each matter that it speaks of: numbers of matters and values. */
export function readValues(text: string): ReadonlyMap<number, ReadonlySet<number>> {
  const lower = text.normalize("NFKC").toLowerCase();
  const found = new Map<number, ReadonlySet<number>>();
  MATTERS.forEach((values, matter) => {
    const said = values.flatMap((value, index) => value.test(lower) ? [index] : []);
    if (said.length > 0) found.set(matter, new Set(said));
  });
  return found;
}

/**
 * Compares the values that two texts give to matters: another to a matter of its own or to any, the
 * same to all that both speak of, or `undefined` if there is none.
 */
export function compareValues(
  a: ReadonlyMap<number, ReadonlySet<number>>,
  b: ReadonlyMap<number, ReadonlySet<number>>,
): "own" | "any" | "same" | undefined {
  const shared = [...a.keys()].filter((matter) => b.has(matter));
  if (shared.length === 0) return undefined;
  const differing = shared.filter((matter) => a.get(matter)?.isDisjointFrom(b.get(matter) ?? NONE));
  if (differing.length === 0) return "same";
  return differing.some((matter) => matter < OWN_MATTERS.length) ? "own" : "any";
}
