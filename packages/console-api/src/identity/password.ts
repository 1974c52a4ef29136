import { hash, verify } from '@node-rs/argon2'
import { fail } from '@svc/contract/errors'
import { requireStrong } from './password-strength.ts'

/** OWASP's least for argon2id: 19 MiB, two passes. About 30 ms on a thread of libuv's pool, none of them on ours. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const
export const PASSWORD_CHARS_MIN = 12
export const PASSWORD_CHARS_MAX = 256

/** More at a time would take the threads that DNS and files need. */
const AT_ONCE = 2
const WAITING_MAX = 64

let busy = 0
/** Those of known devices come first, and have places that no others take. */
const waiting: Record<'known' | 'others', (() => void)[]> = { known: [], others: [] }

/** Bounded: passwords are slow on purpose, and many of them must not slow down everything else. */
async function inTurn<T>(work: () => Promise<T>, isKnown = false): Promise<T> {
  const mine = waiting[isKnown ? 'known' : 'others']
  if (busy >= AT_ONCE) {
    if (mine.length >= WAITING_MAX)
      fail('overloaded', { description: 'Too many people are signing in', retryAfterSeconds: 2 })
    await new Promise<void>((resolve) => mine.push(resolve))
  } else busy++
  try {
    return await work()
  } finally {
    const next = waiting.known.shift() ?? waiting.others.shift()
    if (next) next()
    else busy--
  }
}

const hashed = (password: string): Promise<string> => inTurn(() => hash(password, OPTIONS))

/** Of a password that a person chooses; refuses one that is guessed easily, also by the names and addresses of the person. */
export async function hashPassword(password: string, person: readonly string[] = []): Promise<string> {
  await requireStrong(password, person)
  return hashed(password)
}

let decoy: Promise<string> | undefined

/** Whether it is the password; a name without one takes the same time to be refused. `isKnown`: of a known device. */
export async function isPassword(
  passwordHash: string | null | undefined,
  password: string,
  isKnown = false,
): Promise<boolean> {
  if (!passwordHash) {
    const known = await (decoy ??= hashed('no operator has this password'))
    await inTurn(() => verify(known, password), isKnown)
    return false
  }
  return inTurn(() => verify(passwordHash, password), isKnown)
}
