/**
 * Decodes base64url only where it is spelled in the one canonical way (RFC 4648 §3.5). Decoders, `jose` among them,
 * take dozens of spellings of the same bytes; a JWE must have one, since it counts once (decision C13).
 */
export function decodeCanonical(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}
