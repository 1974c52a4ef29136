import { bad, type Setting } from './setting.ts'

/** Account types whose cards are loaded again; a gift card is loaded once (decision C26). */
export const RELOADABLE_TYPES = [
  'RELOADABLE_GPR',
  'MEAL',
  'FUEL',
  'EMPLOYEE_REWARDS',
  'VIRTUAL_ACCOUNT',
] as const
export type ReloadableType = (typeof RELOADABLE_TYPES)[number]

/** What a card of one account type is loaded with at most, and how much it holds; whole rupees, as other settings. */
export interface LoadLimits {
  readonly load: number
  readonly day: number
  readonly month: number
  readonly balance: number
}
export type LimitsByType = Readonly<Record<ReloadableType, LoadLimits>>

const FORM = 'must look like default=10000/10000/10000/10000,MEAL=2000/2000/5000/10000'

function readLimits(text: string): LoadLimits {
  const limits = text.split('/').map((rupees) => (/^[1-9]\d{0,6}$/.test(rupees) ? Number(rupees) : bad(FORM)))
  const [load = 0, day = 0, month = 0, balance = 0] = limits
  return limits.length === 4 ? { load, day, month, balance } : bad(FORM)
}

export const loadLimits: Setting<LimitsByType> = {
  type: '`account type=load/day/month/balance` in rupees, comma-separated',
  default: 'default=10000/10000/10000/10000',
  meaning:
    'Limits of cards that are loaded again, by account type, `default` for the others: the largest load, what a card is loaded with in a day and in a month of the business zone, and its largest balance after a load. By default those of small instruments; with full KYC the regulator allows a balance of 200,000.',
  read(value) {
    const given = new Map(
      value.split(',').map((part): [string, LoadLimits] => {
        const [type = '', limits = '', ...more] = part.trim().split('=')
        const isKnown = type === 'default' || RELOADABLE_TYPES.some((name) => name === type)
        return isKnown && more.length === 0 ? [type, readLimits(limits)] : bad(FORM)
      }),
    )
    const others = given.get('default') ?? bad('must have a default')
    const limits = RELOADABLE_TYPES.map((type) => [type, given.get(type) ?? others] as const)
    return Object.fromEntries(limits) as LimitsByType
  },
}
