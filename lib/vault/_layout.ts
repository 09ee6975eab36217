/** What a new vault holds. Headings name both languages, so that either reader feels at home. */
import { formatDay } from "@/lib/time_text.ts";

export interface Layout {
  /** Folders that may stay empty; those of files come by themselves. */
  readonly folders: readonly string[];
  /** Text by path. */
  readonly files: ReadonlyMap<string, string>;
}

/** The one note of a vault that nobody named: it says where one is. */
export const WELCOME_LAYOUT: Layout = {
  folders: [],
  files: new Map([[
    "welcome.md",
    lines(
      "# 欢迎 / Welcome",
      "",
      "这个文件夹就是记忆库：里面的每个 Markdown 文件都能被搜索到，可以用 Obsidian 或任何编辑器打开、修改、移动和删除，下一次搜索就会看到。",
      "",
      "This folder is the vault: every Markdown file in it can be found. Open, change, move or delete",
      "them with Obsidian or any editor; the next search sees it.",
      "",
      "- 换成自己的文件夹 / Use a folder of your own: `--vault DIR`",
      "- 补齐推荐的目录结构 / Add the recommended layout: `--init`",
      "- `private/` 与以点开头的文件夹永远不会被读取 / `private/` and dot folders are never read",
    ),
  ]]),
};

/** Returns the whole layout; its dates are those of `nowMs` on this machine's calendar. */
export function fullLayout(memoriesFolder: string, nowMs: number): Layout {
  const updated = ["", "---", `最后更新：${formatDay(nowMs)}`];
  return {
    folders: [
      ...(memoriesFolder === "." ? [] : [memoriesFolder]),
      "projects/archive",
      "_shared",
    ],
    files: new Map([
      [
        "profiles/agent.md",
        lines(
          "# 智能体 / Agent",
          "",
          "<!-- 它怎样工作、表达与协作，每次任务都会读到。How it works and speaks; read with every task. -->",
        ),
      ],
      [
        "profiles/user.md",
        lines(
          "# 用户 / User",
          "",
          "<!-- 稳定的事实与长期目标，每次任务都会读到。Lasting facts and aims; read with every task. -->",
        ),
      ],
      [
        "profile.md",
        lines(
          "# 偏好 / Preferences",
          "",
          "## 写作风格 / Writing",
          "",
          "## 开发习惯 / Development",
          "",
          "## 工作节奏 / Pace",
          "",
          "## 其他偏好 / Other",
          ...updated,
        ),
      ],
      [
        "rules.md",
        lines(
          "# 规则 / Rules",
          "",
          "<!-- 必须遵守，优先于 profile.md；只由确认过的审计增加。Binding; only a confirmed audit adds one. -->",
          "",
          "## 规则列表 / List",
          ...updated,
        ),
      ],
      ["session-log.md", lines("# 任务日志 / Session log")],
    ]),
  };
}

function lines(...texts: readonly string[]): string {
  return `${texts.join("\n")}\n`;
}
