/** E-mail addresses as section 4.3 of the specification has them (decision C15): at most so many characters of this form. */
export const EMAIL_PATTERN = '^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$'
export const EMAIL_CHARS_MAX = 254
/** Mobile numbers of section 4.3: without the country's prefix. */
export const MOBILE_PATTERN = '^[0-9]{10}$'
