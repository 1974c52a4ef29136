/** Only a place inside the console: a crafted address must not lead away after the sign-in. */
export const placeAfter = (back: string | null | undefined, otherwise = '/'): string =>
  back && /^\/(?![/\\])/.test(back) ? back : otherwise
