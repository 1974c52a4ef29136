import { canonicalWord, readOutcome, STATUS_NAME, type StatusOf } from './outcome-words.ts'
import { isStated, readFlag, readText, valueIn } from './reading.ts'

/** A stated value, and its text; empty where it has none. */
interface Stated {
  readonly value: unknown
  readonly text: string
  readonly of: StatusOf
}

/** Whether a field lets the money have moved. */
type Rule = (stated: Stated) => boolean

/** Response codes of ISO 8583 and UPI, and of HTTP, that say that something was done. */
const DONE = new Set(['0', '00', '000', '0000', '00000', '200', 'S', 'Y'])
/** What is written where there is no error. */
const NO_ERROR = new Set([...DONE, 'NA', 'NONE', 'NULL', 'NIL', 'NO', 'NOERROR', 'FALSE', 'UNDEFINED'])
/** Where a word of an event ends: `payment.failed`, `PAYMENT_FAILED`, `paymentFailed`. */
const BETWEEN_WORDS = /[\s._:/,;!-]+|(?<=[a-z])(?=[A-Z])/
const isAmount = ({ value, text }: Stated): boolean =>
  typeof value === 'number' ? value > 0 : /^\d+(?:\.\d+)?$/.test(text)

const outcomeOf = (text: string, of: StatusOf): 'success' | 'other' | undefined => {
  const outcome = valueIn(readOutcome(text, of))?.outcome
  if (!outcome) return undefined
  return outcome === 'success' || (of === 'refund' && outcome === 'gone_back') ? 'success' : 'other'
}
const isSuccess = ({ text, of }: Stated): boolean => outcomeOf(text, of) === 'success'
const outcomesOf = ({ text, of }: Stated) => text.split(BETWEEN_WORDS).map((part) => outcomeOf(part, of))

function isNoError({ value, text }: Stated): boolean {
  if (typeof value === 'object') return !Object.values(value ?? {}).some(isStated)
  return valueIn(readFlag(value)) === false || NO_ERROR.has(canonicalWord(text))
}

const RULES: readonly (readonly [name: RegExp, rule: Rule])[] = [
  // It is read by itself.
  [STATUS_NAME, () => true],
  // `success`, `isSuccessful`, `paid`: a truth value. An amount under such a name is none.
  [
    /^(?:is[\s_-]*)?(?:success|successful|succeeded|ok|paid|captured|credited|completed)$/i,
    (stated) => valueIn(readFlag(stated.value)) ?? (isSuccess(stated) || isAmount(stated)),
  ],
  // `responseCode`, `txn_resp_code`, `resultCode`.
  [
    /^(?:(?:txn|transaction|payment|upi|npci|bank)[\s_-]*)?(?:response|resp|result|return)[\s_-]*code$/i,
    (stated) => DONE.has(canonicalWord(stated.text)) || isSuccess(stated),
  ],
  // `errorCode`, `failureReason`, `decline_code`: stated where there is one.
  [
    /^(?:(?:txn|transaction|payment|upi|npci|bank)[\s_-]*)?(?:error|failure|decline|reversal)[\s_-]*(?:code|reason|message|description|desc)?$/i,
    (stated) => isNoError(stated) || isSuccess(stated),
  ],
  // `event`, `eventType`, `responseStatus`: what has happened, in words. One of another outcome is enough.
  [
    /^(?:event|notification|webhook)[\s_-]*(?:type|name|code)?$|^(?:type|code|result)$|^(?:response|resp|result)[\s_-]*status$|^message[\s_-]*type$/i,
    (stated) => !outcomesOf(stated).includes('other'),
  ],
  // `responseMessage`: a sentence for people, which may speak of what comes next.
  [
    /^(?:(?:response|resp|result)[\s_-]*)?(?:message|msg|description)$/i,
    (stated) => !outcomesOf(stated).includes('other') || outcomesOf(stated).includes('success'),
  ],
]

const KNOWN_MAX = 1_000
const NAME_MAX = 64
/** Which rule a name has: banks send the same few. */
const known = new Map<string, Rule | undefined>()

function ruleOf(name: string): Rule | undefined {
  if (known.has(name)) return known.get(name)
  const rule = RULES.find(([pattern]) => pattern.test(name))?.[1]
  if (known.size < KNOWN_MAX && name.length <= NAME_MAX) known.set(name, rule)
  return rule
}

/**
 * Why a field beside the status says that money has not moved, or not for good: `success: false`, `responseCode: "U30"`,
 * `event: "payment.failed"`, `errorCode`. `undefined`: it says nothing of that, or that it has moved.
 */
export function notMovedBy(name: string, value: unknown, of: StatusOf): string | undefined {
  const rule = ruleOf(name)
  if (!rule || !isStated(value) || rule({ value, text: valueIn(readText(value)) ?? '', of })) return undefined
  return `${JSON.stringify(value)} does not say that the ${of} is complete`
}
