/** Banks write one reference in several ways: letters in either case, with dashes, spaces or slashes (decision Q11). */
export const canonicalReference = (text: string): string => text.replace(/[^A-Za-z0-9]/g, '').toUpperCase()
