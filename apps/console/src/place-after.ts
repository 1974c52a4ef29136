/** Only a place inside the console: a crafted address must not lead away after the sign-in. */
export const placeAfter = (back: string | null | undefined): string =>
  back && /^\/(?![/\\])/.test(back) ? back : '/'
