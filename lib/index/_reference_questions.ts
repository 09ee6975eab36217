/** Questions that hardly any note answers, for vaults that have too few sentences of their own. */
export const REFERENCE_QUESTIONS: readonly string[] = [
  "How long should rice be soaked?",
  "Which tyres are good on snow?",
  "When do swallows fly south?",
  "How is a court booked at the tennis club?",
  "What does the museum show on Fridays?",
  "How are roses pruned?",
  "Why does the left knee hurt after running?",
  "What was the price of the train ticket?",
  "米饭要煮多久才好吃？",
  "冬天开车要换什么轮胎？",
  "燕子什么时候往南飞？",
  "怎样预订羽毛球场地？",
  "博物馆周五有什么展览？",
  "月季应该怎么修剪？",
  "跑步以后膝盖外侧疼怎么办？",
  "火车票是多少钱买的？",
];
