/**
 * Judges a BharatQR code: EMVCo's merchant-presented mode with a UPI address in field 26.
 *
 * Source of the rules: EMVCo, "QR Code Specification for Payment Systems, Merchant-Presented Mode" 1.1, and NPCI's use of it.
 */

import { charsOf, crc16, type EmvField, readFields } from './emv.ts'
import type { UpiFinding } from './finding.ts'
import { isMcc, isVpa, STORED_VALUE_LOAD_MCC } from './upi-uri.ts'

/** The registered id of NPCI's templates. */
const NPCI_RID = 'A000000524'
const RUPEES = '356'

interface BharatRule {
  readonly rule: string
  readonly level: UpiFinding['level']
  readonly wants: string
  /** `undefined`: the rule has nothing to say about this code. */
  readonly test: (code: Code) => boolean | undefined
}

interface Code {
  readonly text: string
  readonly fields: readonly EmvField[]
  readonly value: (id: string) => string | undefined
  readonly vpa: string | undefined
}

/** A rule about one field, silent when the code does not carry it. */
const field = (
  id: string,
  rule: string,
  level: UpiFinding['level'],
  wants: string,
  fits: (value: string) => boolean,
): BharatRule => ({
  rule,
  level,
  wants,
  test: ({ value }) => {
    const text = value(id)
    return text === undefined ? undefined : fits(text)
  },
})

const RULES: readonly BharatRule[] = [
  {
    rule: 'emv-lengths',
    level: 'error',
    wants: 'the lengths of its fields add up to the text',
    test: ({ text, fields }) => charsOf(fields) === text.length,
  },
  {
    rule: 'emv-checksum',
    level: 'error',
    wants: 'field 63 is last and is the CRC of what is before it',
    test: ({ text, fields }) => {
      const last = fields.at(-1)
      return last?.id === '63' && last.value.toUpperCase() === crc16(text.slice(0, charsOf(fields) - 4))
    },
  },
  {
    rule: 'emv-no-duplicates',
    level: 'error',
    wants: 'each field occurs once',
    test: ({ fields }) => new Set(fields.map(({ id }) => id)).size === fields.length,
  },
  {
    rule: 'emv-vpa',
    level: 'error',
    wants: `field 26 has NPCI’s id ${NPCI_RID} and a UPI address; without it only card apps pay the code`,
    test: ({ vpa }) => vpa !== undefined && isVpa(vpa),
  },
  field('53', 'emv-currency', 'error', 'field 53 is 356, rupees', (currency) => currency === RUPEES),
  field('52', 'emv-mcc', 'error', 'field 52 is four digits and not 6540, stored-value load', (mcc) => {
    return isMcc(mcc) && mcc !== STORED_VALUE_LOAD_MCC
  }),
  field('54', 'emv-amount', 'error', 'field 54 is rupees, more than zero', (amount) => {
    return /^\d{1,10}(?:\.\d{0,2})?$/.test(amount) && Number(amount) > 0
  }),
  {
    rule: 'emv-dynamic-amount',
    level: 'warning',
    wants: 'a dynamic code (field 01 is 12) has an amount in field 54',
    test: ({ value }) => (value('01') === '12' ? value('54') !== undefined : undefined),
  },
  field('59', 'emv-name', 'warning', 'field 59, the name, is at most 25 characters', (name) => {
    return name.trim() !== '' && name.length <= 25
  }),
  field('60', 'emv-city', 'warning', 'field 60, the city, is at most 15 characters', (city) => {
    return city.trim() !== '' && city.length <= 15
  }),
]

/** Judges the text of a BharatQR code rule by rule. */
export function checkBharatQr(text: string): UpiFinding[] {
  const fields = readFields(text)
  const value = (id: string) => fields.find((candidate) => candidate.id === id)?.value
  const template = readFields(value('26') ?? '')
  const isNpci = template.some(({ id, value: rid }) => id === '00' && rid.toUpperCase() === NPCI_RID)
  const vpa = isNpci ? template.find(({ id }) => id === '01')?.value : undefined
  const code: Code = { text, fields, value, vpa }
  const named: UpiFinding = {
    rule: 'bharat-qr',
    ok: true,
    level: 'info',
    detail: `a BharatQR code (EMVCo merchant-presented)${vpa === undefined ? '' : `; UPI apps pay ${vpa}`}`,
  }
  const judged = RULES.flatMap(({ rule, level, wants, test }) => {
    const ok = test(code)
    return ok === undefined ? [] : [{ rule, ok, level, detail: wants }]
  })
  return [named, ...judged]
}
