import { sentenceCase } from '../words.ts'
import { count, Money } from './money.tsx'

/** An amount of a ledger: rupees, or coins. */
export function Amount({ amount, unit, signed = false }: { amount: string; unit: string; signed?: boolean }) {
  if (unit === 'INR') return <Money amount={amount} signed={signed} />
  return <>{`${signed && Number(amount) > 0 ? '+' : ''}${count(Number(amount))} coins`}</>
}

/** `card:card_01…` as `card of card_…n453`. */
export function shortAccount(accountId: string): string {
  const [kind = '', owner = ''] = accountId.split(':')
  return `${sentenceCase(kind)} ${owner.slice(0, owner.indexOf('_') + 1)}…${owner.slice(-6)}`
}
