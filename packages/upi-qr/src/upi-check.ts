/**
 * Judges the text of a scanned UPI code, rule by rule.
 *
 * Source of the rules: NPCI, "UPI Linking Specifications" 1.6, and what apps are known to trip over. Pure.
 */

import { checkBharatQr } from './bharat-qr.ts'
import { KIND_NAMES, kindOf } from './code-kind.ts'
import type { UpiFinding } from './finding.ts'
import {
  decode,
  hasDuplicates,
  isAmountForm,
  isMcc,
  isNote,
  isPayeeName,
  isVpa,
  reorders,
  type Scanned,
  STORED_VALUE_LOAD_MCC,
  scan,
  TEXT_CHARS_MAX,
  UPI_PAY,
} from './upi-uri.ts'

interface Rule {
  readonly rule: string
  readonly level: UpiFinding['level']
  readonly wants: string
  /** `undefined`: the rule has nothing to say about this string. */
  readonly test: (scanned: Scanned) => boolean | undefined
  /** What was found instead, for the detail. */
  readonly found?: (scanned: Scanned) => string | undefined
}

const FOUND_CHARS_MAX = 80

const KNOWN_MODES = new Set(['00', '01', '02', '03', '04', '05', '15', '16', '19', '20', '22', '23'])
const DYNAMIC_MODES = new Set(['15', '16', '22', '23'])
const SIGNED_MODES = new Set(['02', '05', '16', '20', '23'])
const KNOWN_PARAMETERS = new Set(
  'pa pn mc tid tr tn am mam cu url mode sign orgid purpose ver msid mtid qrMedium invoiceNo invoiceDate invoiceName gstIn gstBrkUp category refUrl QRexpire QRts'.split(
    ' ',
  ),
)

/** Section 1.2: apps read a parameter that is empty or `null` as absent. */
const isNothing = (value: string): boolean => /^(?:null)?$/i.test(value)
const stated = ({ value }: Scanned, name: string): string | undefined => {
  const text = value(name)
  return text === undefined || isNothing(text) ? undefined : text
}

/** A rule about one parameter, silent when the string does not carry it. */
function parameter(
  name: string,
  rule: string,
  level: Rule['level'],
  wants: string,
  fits: (value: string) => boolean,
): Rule {
  const test = (scanned: Scanned) => {
    const text = stated(scanned, name)
    return text === undefined ? undefined : fits(text)
  }
  return { rule, level, wants, test, found: ({ value }) => value(name) }
}

/** A rule that names the offending parameters. */
function pairwise(
  rule: string,
  level: Rule['level'],
  wants: string,
  offends: (name: string, raw: string) => boolean,
): Rule {
  const offenders = ({ pairs }: Scanned) => pairs.filter(([name, raw]) => offends(name, raw))
  return {
    rule,
    level,
    wants,
    test: (scanned) => offenders(scanned).length === 0,
    found: (scanned) =>
      offenders(scanned)
        .map(([name]) => name)
        .join(', '),
  }
}

const modeNeeds = (modes: ReadonlySet<string>, needed: readonly string[]) => (scanned: Scanned) =>
  modes.has(stated(scanned, 'mode') ?? '') ? needed.every((name) => stated(scanned, name)) : undefined

/** What apps read as rupees, whatever our form of it says: `200`, `5.0`. */
const isPayableForm = (amount: string) => /^\d{1,13}(?:\.\d{1,2})?$/.test(amount)
const positive = (amount: string) => Number(amount) > 0
const decodedOrRaw = (raw: string) => decode(raw) ?? raw

const SCHEME: Rule = {
  rule: 'scheme',
  level: 'error',
  wants: 'begins with upi://pay?',
  test: ({ text }) => UPI_PAY.test(text),
  found: ({ text }) => KIND_NAMES[kindOf(text)] ?? text.slice(0, 16),
}

/** The forms of an amount: what apps pay, and what the specification asks for. */
const amountRules = (name: 'am' | 'mam'): Rule[] => [
  parameter(
    name,
    `${name}-form`,
    'error',
    `${name} is rupees in digits, no sign, comma or exponent`,
    isPayableForm,
  ),
  parameter(
    name,
    `${name}-decimals`,
    'warning',
    `${name} has two decimals and no leading zero`,
    (amount) => !isPayableForm(amount) || isAmountForm(amount),
  ),
]

const RULES: readonly Rule[] = [
  {
    rule: 'scheme-case',
    level: 'warning',
    wants: 'upi://pay is in lower case: Android matches it by case',
    test: ({ text }) => text.startsWith('upi://pay?'),
  },
  pairwise(
    'well-formed-percent',
    'error',
    '% is followed by two hex digits, and the bytes are UTF-8',
    (_, raw) => decode(raw) === undefined,
  ),
  pairwise('no-control-characters', 'error', 'holds no control characters', (name, raw) =>
    /\p{Cc}/u.test(name + decodedOrRaw(raw)),
  ),
  {
    rule: 'no-fragment',
    level: 'error',
    wants: '# is written %23: apps drop what follows it',
    test: ({ text }) => !text.includes('#'),
  },
  {
    rule: 'no-duplicate-parameters',
    level: 'error',
    wants: 'each parameter occurs once',
    test: (scanned) => !hasDuplicates(scanned),
  },
  {
    rule: 'pa-present',
    level: 'error',
    wants: 'pa is there',
    test: (scanned) => stated(scanned, 'pa') !== undefined,
  },
  parameter('pa', 'pa-form', 'error', 'pa is name@handle, at most 255 characters', isVpa),
  {
    rule: 'pn-present',
    level: 'error',
    wants: 'pn is there',
    test: (scanned) => Boolean(stated(scanned, 'pn')?.trim()),
  },
  parameter(
    'pn',
    'pn-form',
    'warning',
    'pn is at most 100 characters that a payer can see',
    (pn) => reorders(pn) || isPayeeName(pn),
  ),
  pairwise('no-empty-parameters', 'warning', 'a parameter without a value is left out', (_, raw) =>
    isNothing(decodedOrRaw(raw)),
  ),
  ...amountRules('am'),
  parameter('am', 'am-positive', 'error', 'am is more than zero', positive),
  {
    rule: 'mam-needs-am',
    level: 'error',
    wants: 'mam comes only with am',
    test: (scanned) =>
      stated(scanned, 'mam') === undefined ? undefined : stated(scanned, 'am') !== undefined,
  },
  ...amountRules('mam'),
  {
    rule: 'mam-within-am',
    level: 'warning',
    wants: 'mam, the least that may be paid, is at most am',
    test: ({ value }) => {
      const [am = '', mam = ''] = [value('am'), value('mam')]
      return isPayableForm(am) && isPayableForm(mam) ? Number(mam) <= Number(am) : undefined
    },
    found: ({ value }) => value('mam'),
  },
  parameter('cu', 'cu-inr', 'error', 'cu is INR', (cu) => cu === 'INR'),
  parameter('mc', 'mc-form', 'error', 'mc is four digits', isMcc),
  parameter(
    'mc',
    'mc-not-6540',
    'error',
    'mc is not 6540, stored-value load',
    (mc) => mc !== STORED_VALUE_LOAD_MCC,
  ),
  parameter(
    'tr',
    'tr-length',
    'error',
    'tr is 1 to 35 characters',
    (tr) => tr.length >= 1 && tr.length <= 35,
  ),
  parameter('tr', 'tr-form', 'warning', 'tr is letters, digits and -._', (tr) =>
    /^[A-Za-z0-9._-]*$/.test(tr),
  ),
  parameter(
    'tn',
    'tn-form',
    'warning',
    'tn is at most 50 characters that a payer can see: apps cut it',
    (tn) => reorders(tn) || isNote(tn),
  ),
  parameter('mode', 'mode-known', 'warning', 'mode is one of NPCI’s', (mode) => KNOWN_MODES.has(mode)),
  {
    // A warning, because apps let the payer enter the amount.
    rule: 'mode-fits',
    level: 'warning',
    wants: 'a dynamic mode (15, 16, 22, 23) comes with am and tr',
    test: modeNeeds(DYNAMIC_MODES, ['am', 'tr']),
    found: ({ value }) => value('mode'),
  },
  {
    rule: 'mode-signed',
    level: 'warning',
    wants: 'a secure mode (02, 05, 16, 20, 23) comes with sign',
    test: modeNeeds(SIGNED_MODES, ['sign']),
    found: ({ value }) => value('mode'),
  },
  // Base64 holds `+`, so a signature is not a text with spaces.
  pairwise('encoding-space', 'warning', 'a space is %20 and a plus %2B: apps differ on +', (name, raw) => {
    return name !== 'sign' && /[+ ]/.test(raw)
  }),
  pairwise('encoding-at', 'warning', '@ is written as it is: an app misreads %40', (_, raw) => {
    return raw.includes('%40')
  }),
  pairwise('encoding-ascii', 'warning', 'other than ASCII is percent-encoded UTF-8', (name, raw) =>
    /[^\p{ASCII}]/u.test(name + raw),
  ),
  pairwise('no-direction-overrides', 'warning', 'no characters that reorder what the payer reads', (_, raw) =>
    reorders(decodedOrRaw(raw)),
  ),
  {
    rule: 'sign-last',
    level: 'error',
    wants: 'sign is the last parameter, since it signs what is before it',
    test: ({ pairs, value }) => (value('sign') === undefined ? undefined : pairs.at(-1)?.[0] === 'sign'),
  },
  pairwise('known-parameters', 'info', 'all parameters are known', (name) => !KNOWN_PARAMETERS.has(name)),
]

function judge({ rule, level, wants, test, found }: Rule, scanned: Scanned): UpiFinding[] {
  const ok = test(scanned)
  if (ok === undefined) return []
  const instead = ok ? undefined : found?.(scanned)
  const detail =
    instead === undefined ? wants : `${wants}; found ${JSON.stringify(instead.slice(0, FOUND_CHARS_MAX))}`
  return [{ rule, ok, level, detail }]
}

/**
 * Judges a scanned string rule by rule; rules that do not apply to it are left out, and of a text that is
 * no payment string only what it is instead. The string is fit for use when {@link isFit} accepts the findings.
 */
export function checkUpiUri(text: string): UpiFinding[] {
  if (text.length > TEXT_CHARS_MAX) {
    const detail = `is at most ${TEXT_CHARS_MAX} characters, the most a QR code holds`
    return [{ rule: 'text-length', ok: false, level: 'error', detail }]
  }
  if (kindOf(text) === 'bharat-qr') return checkBharatQr(text)
  const scanned = scan(text)
  const rules = UPI_PAY.test(text) ? [SCHEME, ...RULES] : [SCHEME]
  return rules.flatMap((rule) => judge(rule, scanned))
}

/** Whether no finding is a broken rule of level `error`. */
export const isFit = (findings: readonly UpiFinding[]): boolean =>
  findings.every(({ ok, level }) => ok || level !== 'error')
