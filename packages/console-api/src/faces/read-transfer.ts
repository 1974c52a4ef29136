import { failField } from '@svc/contract/fail-fields'
import { FUNDING_MAX_PAISE } from '@svc/core/cards/account/card-account'
import { formatRupees, type Paise, readAmount } from '@svc/kernel/money'
import { valueIn } from '@svc/kernel/reading'

/** An amount that a person states, as a transfer of the bank may have it. */
export function readTransfer(name: string, amount: string): Paise {
  const found = valueIn(readAmount(amount))
  return found && found <= FUNDING_MAX_PAISE
    ? found
    : failField(name, 'format', `must be 0.01 to ${formatRupees(FUNDING_MAX_PAISE)} rupees`)
}
