import Bowser from 'bowser'

/** Browser and system in words that a person recognizes, such as `Firefox on Linux`. */
export function browserOf(userAgent: string): string {
  if (userAgent === '') return 'Unknown browser'
  const { browser, os } = Bowser.parse(userAgent)
  const name = browser.name ?? 'Unknown browser'
  return os.name === undefined ? name : `${name} on ${os.name}`
}
