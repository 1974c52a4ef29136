/** Which of the two pages this is built for: the operators' console, or the tenants' portal. */
export const APP: 'console' | 'portal' = import.meta.env.MODE === 'portal' ? 'portal' : 'console'
