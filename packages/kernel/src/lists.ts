const AND = new Intl.ListFormat('en-GB', { type: 'conjunction' })
const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** Names in a sentence: `paid, failed and returned`. */
export const andList = (names: readonly string[]): string => AND.format(names)
/** The same as alternatives: `paid, failed or returned`. */
export const orList = (names: readonly string[]): string => OR.format(names)
