/** The folder web/, put in when the tests are bundled. */
declare const WEB_ROOT: string;
