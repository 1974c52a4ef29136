import type { Options, SearchOptions } from 'minisearch'

/** A part of a page under one heading: what search finds. */
export interface Section {
  readonly id: number
  readonly url: string
  readonly page: string
  readonly title: string
  readonly text: string
  /** Other words for the subject, of the first section of a page. */
  readonly keywords: string
  /** How much its group counts: guides before what is looked up by name. */
  readonly rank: number
}

/** Words of questions that say nothing of the subject. */
const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from get give has have how i if in into is it its make me my need of on or our should so that the their there this to use using was we what when where which who why will with you your'.split(
    ' ',
  ),
)

const processTerm = (term: string): string | null => {
  const word = term.toLowerCase()
  return STOP_WORDS.has(word)
    ? null
    : word.replace(/(?<=\w{3})(?:'s|’s|ies$|s$)/, (end) => (end === 'ies' ? 'y' : ''))
}

/** The same when the index is made and when it is searched. */
export const OPTIONS: Options<Section> = {
  fields: ['title', 'page', 'keywords', 'text'],
  storeFields: ['url', 'page', 'title', 'rank'],
  processTerm,
}

export const SEARCH: SearchOptions = {
  boost: { title: 4, page: 3, keywords: 5 },
  prefix: (term) => term.length > 3,
  fuzzy: (term) => (term.length > 5 ? 0.15 : false),
  weights: { prefix: 0.4, fuzzy: 0.2 },
  boostDocument: (_, __, stored) => (stored as Pick<Section, 'rank'> | undefined)?.rank ?? 1,
}
