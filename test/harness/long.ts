/** Whether tests that take too long for every change run as well: `npm run test:long`. */
export const LONG = process.env['TEST_LONG'] !== undefined

/** Every `nth` of them, beginning with another one each turn, so that all are tried by some; in the long run all of them. */
export const sampled = <Item>(items: readonly Item[], nth: number, turn: number): readonly Item[] =>
  LONG ? items : items.filter((_, i) => (i + turn) % nth === 0)
