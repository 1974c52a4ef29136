import { bad, railKeys, type Setting, text } from './setting.ts'

const matching = (
  rule: { readonly type: string; readonly pattern: RegExp; readonly words: string },
  fallback: string,
  meaning: string,
): Setting<string> => ({
  type: rule.type,
  default: fallback,
  meaning,
  read: (value) => (rule.pattern.test(value) ? value : bad(rule.words)),
})

const ifsc: Setting<string, undefined> = {
  type: 'IFSC',
  default: undefined,
  meaning:
    'IFSC of the bank branch that the virtual accounts of card accounts belong to. Without one, live mode has no funding instructions; sandbox mode has `SBOX0000001`.',
  read: (value) =>
    /^[A-Z]{4}0[A-Z0-9]{6}$/.test(value) ? value : bad('must be an IFSC such as HDFC0000001'),
}

/** Settings of bank transfers to card accounts (decision R15). */
export const FUNDING_SETTINGS = {
  BANK_RAIL_KEYS: railKeys(
    'Keys with which the bank signs its notices of transfers to card accounts; two while one replaces the other. Without one, live mode accepts no such notices; sandbox mode creates its own.',
  ),
  VIRTUAL_ACCOUNT_PREFIX: matching(
    {
      type: '2 to 8 capital letters and digits',
      pattern: /^[A-Z0-9]{2,8}$/,
      words: 'must be 2 to 8 capital letters and digits',
    },
    'SVCP',
    'Beginning of the virtual account numbers of card accounts, as the bank assigns it. Numbers that were drawn before it changes stay as they are.',
  ),
  FUNDING_IFSC: ifsc,
  FUNDING_BENEFICIARY: text(
    'Partner Service Escrow',
    'Name of the beneficiary in the funding instructions of card accounts.',
  ),
  FUNDING_BANK_NAME: text('Sandbox Bank', 'Name of the bank in the funding instructions of card accounts.'),
} as const
