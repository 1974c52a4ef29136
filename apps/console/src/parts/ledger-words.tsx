import { count, Money } from './money.tsx'

/** An amount of a ledger: rupees, or coins. */
export function Amount({ amount, unit, signed = false }: { amount: string; unit: string; signed?: boolean }) {
  if (unit === 'INR') return <Money amount={amount} signed={signed} />
  return <>{`${signed && Number(amount) > 0 ? '+' : ''}${count(Number(amount))} coins`}</>
}
