import { fail } from '@svc/contract/errors'

/** Guesses are counted in powers of ten: fewer than 10^8 is what an offline guess tries first. */
const SCORE_MIN = 3
/** What is judged of a longer one: the time that it takes grows faster than its length. */
const CHARS_JUDGED = 32

const REASONS: Readonly<Record<string, string>> = {
  common: 'it is among the most common passwords',
  similarToCommon: 'it is like a common password',
  wordByItself: 'it is one word',
  namesByThemselves: 'it is a name',
  commonNames: 'it is a common name',
  userInputs: 'it has your name or address in it',
  simpleRepeat: 'it repeats a character',
  extendedRepeat: 'it repeats a few characters',
  sequences: 'it is a sequence, such as abc or 6543',
  recentYears: 'it is a recent year',
  dates: 'it is a date',
  straightRow: 'it is a row of keys of the keyboard',
  keyPattern: 'it is a short pattern of keys of the keyboard',
  pwned: 'it is known from a leak',
}

/** Throws for a password that is guessed easily, also by what is known of the person; says why. */
export async function requireStrong(password: string, person: readonly string[]): Promise<void> {
  const words = person.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter(Boolean)
  // Lists of tens of thousands of passwords: read when the first password is chosen, and not at each start.
  const { judge } = await import('./password-judge.ts')
  const { feedback, score } = judge.check(password.slice(0, CHARS_JUDGED), words)
  if (score >= SCORE_MIN) return
  const reason = (feedback.warning && REASONS[feedback.warning]) ?? 'it is guessed with few attempts'
  fail('password_too_weak', {
    description: `The password is too weak: ${reason}. Choose several words that do not belong together, or a random one`,
  })
}
