import {
  canonicalWord,
  type DisputeOutcome,
  isStatusName,
  readDisputeOutcome,
  readOutcome,
  STATUS_OF,
  type StatusOf,
} from './outcome-words.ts'
import { isStated, readFlag, readText, valueIn } from './reading.ts'

/** What a line or message states of its money, which nothing beside its status may contradict. */
export interface StatedMove {
  readonly of: StatusOf
  readonly outcome: 'success' | 'failed'
  /** Where the money must be one of them to us. */
  readonly side?: 'credit' | 'debit' | undefined
  /** It is of money that goes or comes back: words of that fit it. */
  readonly isReturn?: boolean | undefined
  /** `message` and `description` are of people, such as what was bought: they say nothing of the money. */
  readonly hasTexts?: boolean
}

/** A stated value, and its text; empty where it has none. */
interface Stated extends StatedMove {
  readonly value: unknown
  readonly text: string
}

/** Whether a field says that the money has moved, for good; `undefined`: it says nothing of that. */
type Rule = (stated: Stated) => boolean | undefined

/** Response codes of ISO 8583 and UPI, of payment services and of HTTP, that say that something was done. */
const DONE = new Set(['0', '00', '000', '0000', '00000', '200', 'S', 'Y', 'E000'])
/** What is written where there is no error. */
const NO_ERROR = new Set([...DONE, 'NA', 'NONE', 'NULL', 'NIL', 'NO', 'NOERROR', 'FALSE', 'UNDEFINED'])
/** Where a word of an event ends: `payment.failed`, `PAYMENT_FAILED`, `paymentFailed`. */
const BETWEEN_WORDS = /[\s._:/,;!-]+|(?<=[a-z])(?=[A-Z])/
const isAmount = ({ value, text }: Stated): boolean =>
  typeof value === 'number' ? value > 0 : /^\d+(?:\.\d+)?$/.test(text)

function wordSays(text: string, { of, isReturn = of === 'refund' }: Stated): boolean | undefined {
  const { outcome, word } = valueIn(readOutcome(text, of)) ?? {}
  const isBack = outcome === 'gone_back' || (of === 'payment' && /^(?:VOID|CANCEL)/.test(word ?? ''))
  return outcome === undefined || (isBack && isReturn) ? undefined : outcome === 'success'
}
const saysSuccess = (stated: Stated): boolean => wordSays(stated.text, stated) === true
const wordsSay = (stated: Stated) => stated.text.split(BETWEEN_WORDS).map((part) => wordSays(part, stated))

function isNoError({ value, text }: Stated): boolean {
  if (typeof value === 'object') return !Object.values(value ?? {}).some(isStated)
  const flag = valueIn(readFlag(value))
  return flag === undefined ? NO_ERROR.has(canonicalWord(text)) : !flag
}

/** Of an error, or of money that has gone back: where one is stated. */
const saysError: Rule = (stated) => (isNoError(stated) || saysSuccess(stated) ? undefined : false)

const SIDES = { credit: new Set(['CREDIT', 'CR', 'C', 'CRDT']), debit: new Set(['DEBIT', 'DR', 'D', 'DBIT']) }
const saysSide: Rule = ({ text, side }) =>
  side !== undefined && SIDES[side === 'credit' ? 'debit' : 'credit'].has(canonicalWord(text))
    ? false
    : undefined

/** An event in words. One of another outcome is enough. */
const saysEvent: Rule = (stated) => {
  const said = wordsSay(stated)
  return said.includes(false) ? false : said.includes(true) || undefined
}

const saysInText: Rule = (stated) => {
  const said = wordsSay(stated)
  return said.includes(false) && !said.includes(true) ? false : undefined
}

const OF = '(?:(?:transaction|txn|tran|trn|payment|upi|npci|bank|order|transfer|refund|payout)[\\s_-]*)?'
const named = (names: string): RegExp => new RegExp(`^(?:is[\\s_-]*)?${OF}(?:${names})$`, 'i')

/** `responseCode`, `txn_resp_code`, `actionCode`, `rc`. */
export const RESPONSE_CODE_NAME = named('(?:response|resp|result|return|action)[\\s_-]*code|rc')

/** `event`, `eventType`, `responseStatus`: what has happened, in words. */
const EVENT_NAME = named(
  '(?:event|notification|webhook)[\\s_-]*(?:type|name|code)?|type|code|result|(?:response|resp|result|event)[\\s_-]*status|message[\\s_-]*type',
)

const RULES: readonly (readonly [name: RegExp, rule: Rule])[] = [
  // `success`, `isSuccessful`, `paid`: a truth value. An amount under such a name is none.
  [
    named('success|successful|succeeded|ok|paid|captured|credited|completed|approved'),
    (stated) =>
      valueIn(readFlag(stated.value)) ?? (saysSuccess(stated) || (isAmount(stated) ? undefined : false)),
  ],
  [RESPONSE_CODE_NAME, (stated) => DONE.has(canonicalWord(stated.text)) || saysSuccess(stated)],
  [named('status[\\s_-]*code'), (stated) => DONE.has(canonicalWord(stated.text)) || saysSuccess(stated)],
  // `errorCode`, `failureReason`, `decline_code`, `failed`.
  [
    named(
      '(?:error|err|failure|fail|failed|decline|declined|reject|rejected|rejection|cancelled|canceled|expired)[\\s_-]*(?:code|reason|message|msg|description|desc|flag)?',
    ),
    saysError,
  ],
  // `reversed`, `reversalFlag`, and of a credit the status of its refund.
  [
    named(
      '(?:reversal|reversed|refunded|returned|charged[\\s_-]*back|disputed)[\\s_-]*(?:code|reason|message|description|desc|flag|indicator)?',
    ),
    (stated) => ((stated.isReturn ?? stated.of === 'refund') ? undefined : saysError(stated)),
  ],
  [
    /^(?:refund|reversal|dispute|chargeback)[\s_-]*(?:status|state)$/i,
    (stated) => {
      const isOfCredit = stated.of === 'payment' || stated.of === 'transfer'
      const hasFailed = valueIn(readOutcome(stated.text, 'refund'))?.outcome === 'failed'
      return !isOfCredit || hasFailed || isNoError(stated) ? undefined : false
    },
  ],
  // `drCr`, `CdtDbtInd`, `creditDebitFlag`: one of the two.
  [
    named(
      '(?:dr|debit|d)[\\s/_-]*(?:cr|credit|c)|(?:cr|cdt|credit|c)[\\s/_-]*(?:dr|dbt|debit|d)(?:[\\s_-]*(?:flag|mark|type|ind|indicator))?',
    ),
    saysSide,
  ],
  [EVENT_NAME, (stated) => saysSide(stated) ?? saysEvent(stated)],
  // `responseMessage`: a sentence for people, which may speak of what comes next.
  [
    named(
      '(?:response|resp|result)[\\s_-]*(?:message|msg|description)|status[\\s_-]*(?:message|msg|description|desc|text)',
    ),
    saysInText,
  ],
  [named('message|msg|description'), (stated) => (stated.hasTexts ? undefined : saysInText(stated))],
]

/** A second status: of lines and messages that have one of their own, or in what stands within them. */
const STATUS: Rule = (stated) => {
  const outcome = readOutcome(stated.value, stated.of)
  return 'unreadable' in outcome ? false : wordSays(stated.text, stated)
}

const KNOWN_MAX = 1_000
const NAME_MAX = 64
/** Which rule a name has: banks send the same few. */
const known = new Map<string, Rule | undefined>()

function ruleOf(name: string, of: StatusOf): Rule | undefined {
  const key = `${of} ${name}`
  if (known.has(key)) return known.get(key)
  const rule = isStatusName(name, of) ? STATUS : RULES.find(([pattern]) => pattern.test(name))?.[1]
  if (known.size < KNOWN_MAX && name.length <= NAME_MAX) known.set(key, rule)
  return rule
}

/** Whether a column of this name says whether money has moved, whatever it is of. */
export const saysMove = (name: string): boolean => STATUS_OF.some((of) => ruleOf(name, of) !== undefined)

/**
 * Why a field beside the status contradicts it: of money that has moved `success: false`, `responseCode: "U30"`,
 * `event: "payment.failed"`, `errorCode`, `drCr: "D"`; of what failed, that it is complete. `undefined`: it does not.
 */
export function contradicts(name: string, value: unknown, move: StatedMove): string | undefined {
  const rule = ruleOf(name, move.of)
  if (!rule || !isStated(value)) return undefined
  const says = rule({ ...move, value, text: valueIn(readText(value)) ?? '' })
  if (says === undefined || says === (move.outcome === 'success')) return undefined
  return `${JSON.stringify(value)} ${says ? 'says' : 'does not say'} that the ${move.of} is complete`
}

const DISPUTE_RESULT_NAME = /^(?:is[\s_-]*)?(?:dispute[\s_-]*)?(won|lost)$/i
const outcomeOf = (value: unknown): DisputeOutcome | undefined => valueIn(readDisputeOutcome(value))

/** The same of a dispute that stands as stated: `event: "dispute.lost"`, `won: true`. */
export function contradictsDispute(
  name: string,
  value: unknown,
  outcome: DisputeOutcome,
): string | undefined {
  if (!isStated(value)) return undefined
  const text = valueIn(readText(value)) ?? ''
  const [, result = ''] = DISPUTE_RESULT_NAME.exec(name) ?? []
  const word = valueIn(readFlag(value)) === true ? outcomeOf(result) : undefined
  const words = EVENT_NAME.test(name)
    ? [text, ...text.split(BETWEEN_WORDS)].map(outcomeOf)
    : result === ''
      ? []
      : [word]
  const said = words.filter((each) => each !== undefined)
  return said.length === 0 || said.includes(outcome)
    ? undefined
    : `${JSON.stringify(value)} does not say that the dispute is ${outcome}`
}
