/** Names of the field as people say them; the values are the service's. */
export const PRODUCTS = [
  { value: 'incentive', label: 'Incentive' },
  { value: 'employee_rewards', label: 'Employee rewards' },
] as const

export const ACCOUNT_TYPES = [
  { value: 'GIFT', label: 'Gift' },
  { value: 'EMPLOYEE_REWARDS', label: 'Employee rewards' },
  { value: 'MEAL', label: 'Meal' },
  { value: 'FUEL', label: 'Fuel' },
  { value: 'RELOADABLE_GPR', label: 'Reloadable GPR' },
  { value: 'VIRTUAL_ACCOUNT', label: 'Virtual account' },
] as const

export const CARD_STATUSES = [
  { value: 'UL', label: 'Unlocked' },
  { value: 'L', label: 'Locked' },
  { value: 'BL', label: 'Blocked' },
  { value: 'AP', label: 'Activation in progress' },
] as const

/** What people write in capitals. */
const ACRONYMS = /\b(?:api|cgst|gst|igst|jwe|kyc|pan|ppi|qr|rrn|sgst|upi|utr|vpa)\b/g

/** `upi_credit` as `UPI credit`, `cardStatus` as `Card status`. */
export const sentenceCase = (word: string): string => {
  const text = word
    .replaceAll('_', ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(ACRONYMS, (word) => word.toUpperCase())
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const labelIn =
  (list: readonly { readonly value: string; readonly label: string }[]) =>
  (value: string): string =>
    list.find((entry) => entry.value === value)?.label ?? sentenceCase(value)

/** What our accounts at banks are for. */
export const PURPOSES = [
  { value: 'merchant_escrow', label: 'Escrow of merchants' },
  { value: 'ppi_escrow', label: 'Escrow of cards' },
  { value: 'own_funds', label: 'Own funds' },
] as const

const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** The month of a day, such as `October 2026`. */
export const monthName = (day: string): string => {
  const at = new Date(`${day}T00:00:00Z`)
  return Number.isNaN(at.getTime()) ? day : MONTH.format(at)
}

/** Whose transfers are settled. */
export const railLabel = (rail: string): string => (rail === 'card' ? 'Card network' : 'Bank of UPI')

export const productLabel = labelIn(PRODUCTS)
export const accountTypeLabel = labelIn(ACCOUNT_TYPES)
export const purposeLabel = labelIn(PURPOSES)

/** Who did something, as the audit names them: without what they are. */
export const actorName = (actor: string): string => actor.replace(/^(?:operator|member) /, '')

/** Names of a person, as far as they are known. */
export const personName = (person: { title?: string; firstName?: string; lastName?: string }): string =>
  [person.title, person.firstName, person.lastName].filter((part) => part && part !== '•••').join(' ')

/** An expired code stays `ACTIVE` for the specification (decision Q4); people want to see that it takes nothing. */
export const codeState = ({ expired, status }: { expired: boolean; status: string }): string =>
  expired ? 'EXPIRED' : status
