/** Names under which a body may wrap one encrypted payload string, as its only member (decision C2). */
export const WRAPPING_NAMES = ['payload', 'request', 'data', 'encryptedPayload'] as const

const [FIRST, ...OTHERS] = WRAPPING_NAMES.map((name) => `\`${name}\``)
/** The names as texts list them, the usual one first. */
export const WRAPPED_AS = `\`{"${WRAPPING_NAMES[0]}": "<JWE>"}\` (or ${OTHERS.join(', ').replace(/, (?=[^,]*$)/, ' or ')} in place of ${FIRST})`

/** The payload string that a body is or wraps, without the white space around it. */
export function payloadStringOf(body: unknown): string | undefined {
  if (typeof body === 'string') return body.trim()
  if (body === null || typeof body !== 'object') return undefined
  const [member, another] = Object.entries(body)
  if (!member || another) return undefined
  const [name, text] = member
  return (WRAPPING_NAMES as readonly string[]).includes(name) && typeof text === 'string'
    ? text.trim()
    : undefined
}
