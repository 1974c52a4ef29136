import { toCurrency } from 'to-words/en-IN'

const TENS = 'twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety'
const COMPOUND = new RegExp(`\\b(${TENS}) (?=(?:one|two|three|four|five|six|seven|eight|nine)\\b)`, 'g')

/** Rupees as the service writes them (`149000.50`) as people say them: "one lakh forty-nine thousand rupees and fifty paise". */
export function amountInWords(amount: string | number): string {
  const text = typeof amount === 'number' ? amount.toFixed(2) : amount
  return toCurrency(text, { doNotAddOnly: true }).toLowerCase().replaceAll(COMPOUND, '$1-')
}
