import type { RandomBytes } from '@svc/kernel/ids'

const DIGITS = 16

/** The check digit of ISO/IEC 7812-1 annex B for the digits before it. */
export function luhnDigit(digits: string): string {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48
    const doubled = i % 2 === 0 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return String((10 - (sum % 10)) % 10)
}

/** A number of 16 digits in the BIN's range, drawn by chance, with its check digit. */
export function drawCardNumber(bin: string, random: RandomBytes): string {
  let digits = bin
  while (digits.length < DIGITS - 1) {
    // Bytes from 250 on are dropped, so that every digit is equally likely.
    for (const byte of random(16)) if (byte < 250 && digits.length < DIGITS - 1) digits += String(byte % 10)
  }
  return digits + luhnDigit(digits)
}

/** What may be shown of a number: at most the BIN's first six digits and the last four. */
export const maskCardNumber = (number: string): string => `${number.slice(0, 6)}XXXXXX${number.slice(-4)}`
