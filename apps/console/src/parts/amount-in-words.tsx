import { lazyPart } from './lazy-part.tsx'

/** Rupees as people say them; its words are fetched when the first is shown. */
export const AmountInWords = lazyPart<{ readonly amount: string | number }>(async () => {
  const { amountInWords } = await import('../amount-in-words.ts')
  return ({ amount }) => amountInWords(amount)
}, '…')
