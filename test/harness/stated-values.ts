/** Values that no field reads: what is stated so is named, never treated as absent. */
const NEVER = [{}, [], ['x'], true, 'zzz zzz', '1e3', 0.1 + 0.2, -1, '٣']

/** What is one thing: a field that states nothing. */
export const ABSENT = [undefined, null, '', ' '] as const

export interface FieldCase {
  /** Other spellings of a value that is read. */
  readonly spelled?: readonly unknown[]
  /** What cannot be read, besides what never can; `read`: of those, what this field does read. */
  readonly unreadable?: readonly unknown[]
  readonly read?: readonly unknown[]
}

/** What a field cannot read, of all kinds: wrong types, foreign words, other units. */
export const unreadableOf = ({ unreadable = [], read = [] }: FieldCase): unknown[] => [
  ...NEVER.filter((value) => !read.includes(value)),
  ...unreadable,
]
